// A file that appears whole or not at all.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "capra/base/result.h"

namespace capra {

/// A file under a temporary name beside its own, which `finish` gives it. Without `finish` nothing
/// is left behind. A device or named pipe is opened and written to, as a rename would put a file in
/// its place.
class NewFile {
 public:
  /// Follows a link at `path`, and keeps the permissions of a file it replaces. Fails with
  /// `file-unwritable`, also for a folder.
  static Result<NewFile> create(const std::string& path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  bool is_special() const { return temporary_.empty(); }
  /// For reading and writing, of a special file for writing; belongs to this object.
  std::FILE* stream() const { return stream_; }
  /// Flushes, closes and renames. Fails with `file-unwritable`, and then nothing is left.
  Status finish();

 private:
  NewFile(std::FILE* stream, std::string path, std::string temporary)
      : stream_(stream), path_(std::move(path)), temporary_(std::move(temporary)) {}

  std::FILE* stream_;  ///< null when finished
  std::string path_;
  std::string temporary_;  ///< empty for a special file
};

/// Whether a device or a named pipe stands there.
bool is_special_file(const std::string& path);

/// Writes a whole file; fails as NewFile does.
Status write_file(const std::string& path, std::string_view contents);

/// Remembers a file or folder that has still to get its name; a few at a time.
void remember_unfinished(const std::string& path);
/// It has its name, or is gone.
void forget_unfinished(const std::string& path);
/// Removes those that are remembered, folders with all that is in them. For handlers of signals
/// that end the process: it is async-signal-safe.
void remove_unfinished() noexcept;

}  // namespace capra
