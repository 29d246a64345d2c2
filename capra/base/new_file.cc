// Temporary names, permissions and renames.
#include "capra/base/new_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace capra {
namespace {

Failure unwritable(const std::string& path, int error) {
  return fail("file-unwritable", std::strerror(error), path,
              "check the folder, its permissions and the free space");
}

}  // namespace

Result<NewFile> NewFile::create(const std::string& path) {
  if (path.empty()) return unwritable("the output", ENOENT);
  struct stat status{};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return unwritable(path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    std::FILE* special = std::fopen(path.c_str(), "w");
    if (special == nullptr) return unwritable(path, errno);
    return NewFile(special, path, {});
  }
  // What a link points to is replaced or made, not the link.
  std::error_code unreadable;
  std::filesystem::path name = path;
  for (int links = 0; std::filesystem::is_symlink(name, unreadable); ++links) {
    constexpr int kMostLinks = 40;  // as the system allows
    if (links == kMostLinks) return unwritable(path, ELOOP);
    name = name.parent_path() / std::filesystem::read_symlink(name, unreadable);
  }
  std::string temporary = name.string() + ".XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) return unwritable(path, errno);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, exists ? status.st_mode & 0777 : 0666 & ~mask);
  std::FILE* stream = ::fdopen(descriptor, "w+");
  if (stream == nullptr) {
    const int error = errno;
    ::close(descriptor);
    ::unlink(temporary.c_str());
    return unwritable(path, error);
  }
  return NewFile(stream, name.string(), std::move(temporary));
}

NewFile::NewFile(NewFile&& other) noexcept
    : stream_(std::exchange(other.stream_, nullptr)),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)) {}

NewFile::~NewFile() {
  if (stream_ == nullptr) return;
  std::fclose(stream_);
  if (!is_special()) ::unlink(temporary_.c_str());
}

Status NewFile::finish() {
  const bool closed = std::fclose(std::exchange(stream_, nullptr)) == 0;
  if (closed && (is_special() || ::rename(temporary_.c_str(), path_.c_str()) == 0)) return {};
  const int error = errno;
  if (!is_special()) ::unlink(temporary_.c_str());
  return unwritable(path_, error);
}

bool is_special_file(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

Status write_file(const std::string& path, std::string_view contents) {
  CAPRA_ASSIGN(NewFile file, NewFile::create(path));
  if (std::fwrite(contents.data(), 1, contents.size(), file.stream()) != contents.size()) {
    return unwritable(path, errno);
  }
  return file.finish();
}

}  // namespace capra
