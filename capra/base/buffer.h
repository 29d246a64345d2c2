// Bytes with an owner: allocated here, or mapped from a file. Shared, and aligned to 64.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "capra/base/result.h"

namespace capra {

/// A block of bytes that frees or unmaps itself. Shared as `std::shared_ptr<Buffer>`.
class Buffer {
 public:
  static constexpr size_t kAlignment = 64;

  /// `size` bytes of zeros, aligned to 64.
  static std::shared_ptr<Buffer> allocate(size_t size);
  /// Bytes owned by something else, which `release` lets go.
  static std::shared_ptr<Buffer> wrap(std::byte* data, size_t size, std::function<void()> release);
  /// The same for a private mapping of a file that nobody writes to.
  static std::shared_ptr<Buffer> wrap_mapping(std::byte* data, size_t size,
                                              std::function<void()> release);

  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// Lets the system take back the memory of whole pages within this range of a file mapping; they
  /// are read from the file again when touched. Does nothing for other buffers.
  void drop_pages(size_t offset, size_t size) const;

 private:
  Buffer(std::byte* data, size_t size, std::function<void()> release);

  std::byte* data_;
  size_t size_;
  std::function<void()> release_;
  bool file_mapping_ = false;
};

/// Maps a whole file for reading; private, so the file is never written.
/// Fails with `file-not-found` or `file-unreadable`, which a pipe or device is too. An empty file
/// gives an empty buffer.
Result<std::shared_ptr<Buffer>> map_file(const std::string& path);

/// Whether anything has this name; what cannot be looked at does not exist.
bool file_exists(const std::string& path);

/// Reads a whole file into memory, or a pipe or device to its end, at most 1 GiB: it waits for what
/// a pipe gives. Fails with `file-not-found` or `file-unreadable`.
Result<std::string> read_file(const std::string& path);

}  // namespace capra
