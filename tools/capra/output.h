// Writing results: whole or not at all to a file, as they come to standard output.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "capra/base/new_file.h"
#include "capra/base/result.h"

namespace capra::driver {

/// A destination. A file is written under a temporary name beside it and renamed by `finish`;
/// without `finish` (or on a signal) the temporary file is removed.
class Output {
 public:
  /// `path` is a file, or `-`. A link is followed; a device or named pipe is written to. Fails with
  /// `output-unwritable`.
  static Result<Output> open(const std::string& path);
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();

  /// Fails with `output-unwritable` (a full disk, no permission) or `output-closed` (a pipe whose
  /// reader has gone).
  Status write(std::string_view bytes);
  /// Lets bytes that are meant to leave at once leave now; a file keeps them until `finish`.
  Status flush();
  /// Flushes, and gives the file its name.
  Status finish();
  /// Replaces the first bytes of what was written; only on a file that can be rewound.
  Status rewrite_start(std::string_view bytes);
  /// Whether a file is made; else bytes leave at once (standard output, a device, a pipe).
  bool is_file() const { return file_.has_value(); }

 private:
  Output(std::FILE* stream, std::string path) : stream_(stream), path_(std::move(path)) {}
  Failure failure(int error) const;

  std::FILE* stream_;  ///< of `file_`, where there is one
  std::string path_;
  std::optional<NewFile> file_;  ///< empty where bytes leave at once
};

/// Prints a whole result to standard output; fails as Output does.
Status print_result(std::string_view text);

/// Writes a whole text to `path`, as Output takes it; fails as Output does.
Status write_output(const std::string& path, std::string_view text);

/// Makes SIGHUP, SIGINT, SIGQUIT, SIGTERM and SIGXCPU remove unfinished output, SIGPIPE and SIGXFSZ
/// a write error, and SIGABRT, which a broken invariant raises, exit code 70.
void install_signal_handlers();

}  // namespace capra::driver
