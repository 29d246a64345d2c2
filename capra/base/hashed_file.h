// A new file written once from its beginning to its end, counted and hashed on the way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "capra/base/hash/sha256.h"
#include "capra/base/new_file.h"

namespace capra {

/// What identifies the contents of a file.
struct FileDigest {
  uint64_t bytes = 0;
  std::string sha256;  ///< 64 lower-case hexadecimal digits
  friend bool operator==(const FileDigest&, const FileDigest&) = default;
};

/// Long runs of zeros become holes where the file system has them.
class HashedFile {
 public:
  /// Fails as NewFile::create does.
  static Result<HashedFile> create(const std::string& path);

  uint64_t bytes() const { return digest_.bytes; }
  /// A failure is kept until `finish`.
  void write(const void* bytes, size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Zeros up to a multiple of `alignment`, at most 4096.
  void pad_to(uint64_t alignment);
  /// Gives the file its name. Fails with `file-unwritable`; then nothing is left.
  Result<FileDigest> finish();

 private:
  HashedFile(NewFile file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  NewFile file_;
  std::string path_;
  Sha256 hash_;
  FileDigest digest_;
  bool ends_in_hole_ = false;
  int error_ = 0;  ///< the system's number of the first failure
};

/// `write_file`, and what was written.
Result<FileDigest> write_hashed(const std::string& path, std::string_view contents);

/// Bytes and hash of a file that is there, read piece by piece. Fails with `file-not-found` or
/// `file-unreadable`.
Result<FileDigest> digest_file(const std::string& path);

}  // namespace capra
