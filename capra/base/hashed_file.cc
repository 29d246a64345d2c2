// Pieces are hashed while they are warm, then written or left out.
#include "capra/base/hashed_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "capra/base/buffer.h"

namespace capra {
namespace {

constexpr size_t kPiece = size_t{1} << 20;
constexpr size_t kMostPadding = 4096;

bool is_zero(const char* bytes, size_t size) {
  return size > 0 && bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0;
}

}  // namespace

Result<HashedFile> HashedFile::create(const std::string& path) {
  CAPRA_ASSIGN(NewFile file, NewFile::create(path));
  return HashedFile(std::move(file), path);
}

void HashedFile::write(const void* bytes, size_t size) {
  const auto* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const size_t piece = std::min(size, kPiece);
    hash_.update(next, piece);
    digest_.bytes += piece;
    ends_in_hole_ = piece == kPiece && !file_.is_special() && is_zero(next, piece);
    const bool good = ends_in_hole_
                          ? ::fseeko(file_.stream(), static_cast<off_t>(piece), SEEK_CUR) == 0
                          : std::fwrite(next, 1, piece, file_.stream()) == piece;
    if (!good && error_ == 0) error_ = errno;
    next += piece;
    size -= piece;
  }
}

void HashedFile::pad_to(uint64_t alignment) {
  static constexpr std::array<char, kMostPadding> kZeros{};
  const uint64_t over = digest_.bytes % alignment;
  if (over != 0) write(kZeros.data(), alignment - over);
}

Result<FileDigest> HashedFile::finish() {
  if (error_ == 0 && ends_in_hole_) {
    const bool good = std::fflush(file_.stream()) == 0 &&
                      ::ftruncate(::fileno(file_.stream()), static_cast<off_t>(digest_.bytes)) == 0;
    if (!good) error_ = errno;
  }
  if (error_ != 0) {
    return fail("file-unwritable", std::strerror(error_), path_,
                "check the folder, its permissions and the free space");
  }
  CAPRA_TRY(file_.finish());
  digest_.sha256 = hash_.finish();
  return std::move(digest_);
}

Result<FileDigest> write_hashed(const std::string& path, std::string_view contents) {
  CAPRA_ASSIGN(HashedFile file, HashedFile::create(path));
  file.write(contents);
  return file.finish();
}

Result<FileDigest> digest_file(const std::string& path) {
  CAPRA_ASSIGN(const std::shared_ptr<Buffer> bytes, map_file(path));
  Sha256 hash;
  for (size_t at = 0; at < bytes->size(); at += kPiece) {
    const size_t piece = std::min(bytes->size() - at, kPiece);
    hash.update(bytes->data() + at, piece);
    bytes->drop_pages(at, piece);
  }
  return FileDigest{bytes->size(), hash.finish()};
}

}  // namespace capra
