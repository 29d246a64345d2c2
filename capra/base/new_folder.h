// A folder that appears whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "capra/base/result.h"

namespace capra {

/// A folder under a temporary name beside its own, which `finish` gives it. Without `finish` it is
/// removed with all that is in it.
class NewFolder {
 public:
  /// Fails with `output-exists` where there is something called `path`, and with
  /// `output-unwritable`.
  static Result<NewFolder> create(const std::string& path);
  NewFolder(NewFolder&& other) noexcept;
  NewFolder& operator=(NewFolder&&) = delete;
  ~NewFolder();

  /// Where to write the file called `name`, which stands directly in the folder.
  std::string file(std::string_view name) const { return temporary_ + "/" + std::string(name); }
  /// Gives the folder its name. Fails with `output-unwritable`.
  Status finish();

 private:
  NewFolder(std::string path, std::string temporary)
      : path_(std::move(path)), temporary_(std::move(temporary)) {}

  std::string path_;
  std::string temporary_;  ///< empty when finished
};

/// Removes the folders that are not finished, with all that is in them. For handlers of signals
/// that end the process: it is async-signal-safe.
void remove_unfinished_folders() noexcept;

}  // namespace capra
