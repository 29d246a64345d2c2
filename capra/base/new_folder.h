// A folder that appears whole or not at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capra/base/hashed_file.h"

namespace capra {

/// A file that was written whole.
struct FolderFile {
  std::string name;
  std::string holds;  ///< in words, for people
  FileDigest digest;
};

/// A folder under a temporary name beside its own, which `finish` gives it. Without `finish` it is
/// removed with all that is in it.
class NewFolder {
 public:
  /// Fails with `output-exists` where there is something called `path`, and with
  /// `output-unwritable`.
  static Result<NewFolder> create(const std::string& path);
  /// As `create`, for a folder that is to be removed: what is called `path` does not matter.
  static Result<NewFolder> create_temporary(const std::string& path);
  NewFolder(NewFolder&& other) noexcept;
  NewFolder& operator=(NewFolder&&) = delete;
  ~NewFolder();

  /// Where to write the file called `name`, which stands directly in the folder.
  std::string file(std::string_view name) const { return temporary_ + "/" + std::string(name); }
  /// Lists a file that was written there.
  void list(std::string_view name, std::string_view holds, FileDigest digest);
  /// Writes a whole file and lists it; fails as HashedFile does.
  Status write(std::string_view name, std::string_view holds, std::string_view contents);
  /// Those listed, in this order.
  const std::vector<FolderFile>& files() const { return files_; }
  /// Gives the folder its name. Fails with `output-unwritable`.
  Status finish();

 private:
  NewFolder(std::string path, std::string temporary)
      : path_(std::move(path)), temporary_(std::move(temporary)) {}

  std::string path_;
  std::string temporary_;  ///< empty when finished
  std::vector<FolderFile> files_;
};

}  // namespace capra
