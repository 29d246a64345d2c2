// Temporary names and permissions of folders.
#include "capra/base/new_folder.h"

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
#include <utility>

namespace capra {
namespace {

Failure unwritable(const std::string& path, int error) {
  return fail("output-unwritable", std::strerror(error), path,
              "check the folder above it, its permissions and the free space");
}

// Unfinished folders, for handlers of signals, which may only read them; more than these are not
// remembered.
struct Place {
  enum State : int { kFree, kChanging, kTaken };
  std::atomic<int> state{kFree};
  std::array<char, 1024> path{};
};
std::array<Place, 16> unfinished;

void remember(const std::string& path) {
  for (Place& place : unfinished) {
    int free = Place::kFree;
    if (path.size() >= place.path.size()) return;
    if (!place.state.compare_exchange_strong(free, Place::kChanging)) continue;
    std::memcpy(place.path.data(), path.c_str(), path.size() + 1);
    place.state.store(Place::kTaken, std::memory_order_release);
    return;
  }
}

void forget(const std::string& path) {
  for (Place& place : unfinished) {
    if (place.state.load(std::memory_order_acquire) == Place::kTaken && path == place.path.data()) {
      place.state.store(Place::kFree, std::memory_order_release);
    }
  }
}

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

void remove_unfinished_folders() noexcept {
  constexpr int kDeepest = 8;
  for (const Place& place : unfinished) {
    if (place.state.load(std::memory_order_acquire) == Place::kTaken) {
      remove_entry(AT_FDCWD, place.path.data(), kDeepest);
    }
  }
}

Result<NewFolder> NewFolder::create(const std::string& path) {
  std::string name = path;
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(name, ignored))) {
    return fail("output-exists", "there is something called so already", path,
                "remove it, or name another folder");
  }
  std::string temporary = name + ".XXXXXX";
  if (::mkdtemp(temporary.data()) == nullptr) return unwritable(path, errno);
  remember(temporary);
  return NewFolder(std::move(name), std::move(temporary));
}

NewFolder::NewFolder(NewFolder&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      files_(std::move(other.files_)) {}

NewFolder::~NewFolder() {
  if (temporary_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(temporary_, ignored);
  forget(temporary_);
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
  forget(temporary_);
  temporary_.clear();
  return {};
}

}  // namespace capra
