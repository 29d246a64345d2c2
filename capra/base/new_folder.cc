// Temporary names and permissions of folders.
#include "capra/base/new_folder.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "capra/base/process/hold_signals.h"

namespace capra {
namespace {

Failure unwritable(const std::string& path, int error) {
  return fail("output-unwritable", std::strerror(error), path,
              "check the folder above it, its permissions and the free space");
}

}  // namespace

Result<NewFolder> NewFolder::create(const std::string& path) {
  std::string name = path;
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(name, ignored))) {
    return fail("output-exists", "there is something called so already", path,
                "remove it, or name another folder");
  }
  return create_temporary(name);
}

Result<NewFolder> NewFolder::create_temporary(const std::string& path) {
  std::string temporary = path + ".XXXXXX";
  const HoldSignals guard;
  if (::mkdtemp(temporary.data()) == nullptr) return unwritable(path, errno);
  remember_unfinished(temporary);
  return NewFolder(path, std::move(temporary));
}

NewFolder::NewFolder(NewFolder&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      files_(std::move(other.files_)) {}

NewFolder::~NewFolder() {
  if (temporary_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(temporary_, ignored);
  forget_unfinished(temporary_);
}

void NewFolder::list(std::string_view name, std::string_view holds, FileDigest digest) {
  files_.push_back({std::string(name), std::string(holds), std::move(digest)});
}

Status NewFolder::write(std::string_view name, std::string_view holds, std::string_view contents) {
  CAPRA_ASSIGN(FileDigest digest, write_hashed(file(name), contents));
  list(name, holds, std::move(digest));
  return {};
}

Status NewFolder::finish() {
  std::error_code error;
  // mkdtemp makes a folder for its owner alone.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  std::filesystem::permissions(temporary_, std::filesystem::perms(0777 & ~mask), error);
  if (!error) std::filesystem::rename(temporary_, path_, error);
  if (error) return unwritable(path_, error.value());
  forget_unfinished(temporary_);
  temporary_.clear();
  return {};
}

}  // namespace capra
