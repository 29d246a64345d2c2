// Allocation, file mapping and whole-file reads.
#include "capra/base/buffer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace capra {
namespace {

Failure open_failure(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return fail("file-not-found", "no such file", path, "check the path");
  }
  return fail("file-unreadable", std::strerror(error), path, "check that it is a readable file");
}

struct File {
  int descriptor = -1;
  size_t size = 0;  // of a regular file
  bool is_regular = true;
  File(int d, size_t s) : descriptor(d), size(s) {}
  File(File&& other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)),
        size(other.size),
        is_regular(other.is_regular) {}
  File& operator=(File&&) = delete;
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

Result<File> open_file(const std::string& path, int flags) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return open_failure(path, errno);
  File file(descriptor, 0);
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return open_failure(path, errno);
  if (S_ISDIR(status.st_mode)) return open_failure(path, EISDIR);
  file.is_regular = S_ISREG(status.st_mode);
  if (file.is_regular) file.size = static_cast<size_t>(status.st_size);
  return file;
}

// Fewer bytes than `size` only at the end.
Result<size_t> read_bytes(const File& file, const std::string& path, char* to, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(file.descriptor, to + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return open_failure(path, errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

// A pipe or device, which says nothing of its size.
Result<std::string> read_stream(const File& file, const std::string& path) {
  constexpr size_t kPiece = size_t{1} << 16;
  constexpr size_t kMost = size_t{1} << 30;
  std::string contents;
  while (contents.size() < kMost) {
    const size_t before = contents.size();
    contents.resize(before + std::max(kPiece, before));
    CAPRA_ASSIGN(const size_t got,
                 read_bytes(file, path, contents.data() + before, contents.size() - before));
    if (before + got == contents.size()) continue;
    contents.resize(before + got);
    return contents;
  }
  return fail("file-unreadable", "it goes on after 1 GiB", path,
              "give a pipe that ends, or a regular file");
}

}  // namespace

Buffer::Buffer(std::byte* data, size_t size, std::function<void()> release)
    : data_(data), size_(size), release_(std::move(release)) {}

Buffer::~Buffer() {
  if (release_) release_();
}

namespace {

constexpr size_t kHugePage = size_t{2} << 20;

// Zeros straight from the system, in huge pages where it has them; pages that are never touched
// take no memory. Null where the system refuses.
std::shared_ptr<Buffer> allocate_large(size_t size) {
  const size_t reserved = size + kHugePage;
  void* memory =
      ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const size_t past = reinterpret_cast<uintptr_t>(memory) % kHugePage;
  auto* data = static_cast<std::byte*>(memory) + (past == 0 ? 0 : kHugePage - past);
  ::madvise(data, size, MADV_HUGEPAGE);
  return Buffer::wrap(data, size, [memory, reserved] { ::munmap(memory, reserved); });
}

}  // namespace

std::shared_ptr<Buffer> Buffer::allocate(size_t size) {
  if (size >= 2 * kHugePage) {
    std::shared_ptr<Buffer> large = allocate_large(size);
    if (large == nullptr) throw std::bad_alloc();
    return large;
  }
  const size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, rounded == 0 ? kAlignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, rounded);
  auto* data = static_cast<std::byte*>(memory);
  return wrap(data, size, [data] { std::free(data); });
}

std::shared_ptr<Buffer> Buffer::wrap(std::byte* data, size_t size, std::function<void()> release) {
  return std::shared_ptr<Buffer>(new Buffer(data, size, std::move(release)));
}

std::shared_ptr<Buffer> Buffer::wrap_mapping(std::byte* data, size_t size,
                                             std::function<void()> release) {
  std::shared_ptr<Buffer> buffer = wrap(data, size, std::move(release));
  buffer->file_mapping_ = true;
  return buffer;
}

void Buffer::drop_pages(size_t offset, size_t size) const {
  if (!file_mapping_ || size == 0) return;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  std::byte* const start = data_ + offset;
  const uintptr_t address = reinterpret_cast<uintptr_t>(start);
  const size_t skipped = (page - address % page) % page;
  if (size < skipped + page) return;
  // Rounded inwards: a page shared with a neighbour stays.
  ::madvise(start + skipped, (size - skipped) / page * page, MADV_DONTNEED);
}

Result<std::shared_ptr<Buffer>> map_file(const std::string& path) {
  CAPRA_ASSIGN(const File file, open_file(path, O_NONBLOCK));  // no waiting on a pipe
  if (!file.is_regular) {
    return fail("file-unreadable", "this is a pipe or a device, and the file is mapped into memory",
                path, "give a regular file: write what comes out of the pipe to one");
  }
  if (file.size == 0) return Buffer::allocate(0);
  void* memory = ::mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, file.descriptor, 0);
  if (memory == MAP_FAILED) return open_failure(path, errno);
  auto* data = static_cast<std::byte*>(memory);
  const size_t size = file.size;
  return Buffer::wrap_mapping(data, size, [data, size] { ::munmap(data, size); });
}

bool file_exists(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0;
}

Result<std::string> read_file(const std::string& path) {
  CAPRA_ASSIGN(const File file, open_file(path, 0));
  if (!file.is_regular) return read_stream(file, path);
  std::string contents(file.size, '\0');
  CAPRA_ASSIGN(const size_t size, read_bytes(file, path, contents.data(), contents.size()));
  contents.resize(size);
  return contents;
}

}  // namespace capra
