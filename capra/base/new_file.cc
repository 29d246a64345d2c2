// Temporary names, permissions and renames; what a signal must remove.
#include "capra/base/new_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <utility>

#include "capra/base/process/hold_signals.h"

namespace capra {
namespace {

Failure unwritable(const std::string& path, int error) {
  return fail("file-unwritable", std::strerror(error), path,
              "check the folder, its permissions and the free space");
}

void discard(const std::string& temporary) {
  ::unlink(temporary.c_str());
  forget_unfinished(temporary);
}

// For handlers of signals, which may only read it; more than these, and longer paths, are not
// remembered.
struct Unfinished {
  std::atomic<bool> is_taken{false};
  std::array<char, 4096> path{};
};
std::array<Unfinished, 16> unfinished;
std::mutex unfinished_mutex;  ///< of those who write it

// By system calls alone. Folders within folders are deeper than a program of ours or a tool makes
// them long before `depth` is used up.
void remove_entry(int folder, const char* name, int depth) noexcept {
  if (::unlinkat(folder, name, 0) == 0 || depth == 0) return;
  const int inner = ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner < 0) return;
  alignas(dirent64) char entries[2048];
  ssize_t bytes = 0;
  while ((bytes = ::getdents64(inner, entries, sizeof entries)) > 0) {
    for (ssize_t at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      const std::string_view found = entry->d_name;
      if (found != "." && found != "..") remove_entry(inner, entry->d_name, depth - 1);
    }
  }
  ::close(inner);
  ::unlinkat(folder, name, AT_REMOVEDIR);
}

}  // namespace

void remember_unfinished(const std::string& path) {
  const std::lock_guard lock(unfinished_mutex);
  for (Unfinished& one : unfinished) {
    if (one.is_taken.load(std::memory_order_relaxed) || path.size() >= one.path.size()) continue;
    std::memcpy(one.path.data(), path.c_str(), path.size() + 1);
    one.is_taken.store(true, std::memory_order_release);
    return;
  }
}

void forget_unfinished(const std::string& path) {
  const std::lock_guard lock(unfinished_mutex);
  for (Unfinished& one : unfinished) {
    if (path == one.path.data()) one.is_taken.store(false, std::memory_order_release);
  }
}

void remove_unfinished() noexcept {
  const int error = errno;  // of what the signal interrupts
  wait_for_holds();
  constexpr int kDeepest = 8;
  for (const Unfinished& one : unfinished) {
    if (one.is_taken.load(std::memory_order_acquire)) {
      remove_entry(AT_FDCWD, one.path.data(), kDeepest);
    }
  }
  errno = error;
}

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
  int descriptor = -1;
  {
    const HoldSignals guard;
    descriptor = ::mkstemp(temporary.data());
    if (descriptor < 0) return unwritable(path, errno);
    remember_unfinished(temporary);
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, exists ? status.st_mode & 0777 : 0666 & ~mask);
  std::FILE* stream = ::fdopen(descriptor, "w+");
  if (stream == nullptr) {
    const int error = errno;
    ::close(descriptor);
    discard(temporary);
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
  if (!is_special()) discard(temporary_);
}

Status NewFile::finish() {
  const bool closed = std::fclose(std::exchange(stream_, nullptr)) == 0;
  if (closed && (is_special() || ::rename(temporary_.c_str(), path_.c_str()) == 0)) {
    forget_unfinished(temporary_);
    return {};
  }
  const int error = errno;
  if (!is_special()) discard(temporary_);
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
