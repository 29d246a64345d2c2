// The layout: a header, entries at multiples of 16, their names, the data. Little endian.
#include "capra/io/irpa_file.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace capra {
namespace {

constexpr uint32_t kMagic = 0x41505249;  // "IRPA"

// Fields, in bytes from the header or from an entry.
constexpr uint64_t kSizeOfHeader = 8;
constexpr uint64_t kEntryCount = 32;
constexpr uint64_t kEntries = 40;
constexpr uint64_t kNames = 56;
constexpr uint64_t kStorage = 72;
constexpr uint64_t kType = 8;
constexpr uint64_t kName = 20;
constexpr uint64_t kData = 60;

using Bytes = std::span<const std::byte>;

// The caller has looked at the size.
template <class T>
T number_at(Bytes bytes, uint64_t offset) {
  T value = 0;
  for (size_t i = sizeof(T); i-- > 0;) {
    value = static_cast<T>(value << 8U | std::to_integer<T>(bytes[offset + i]));
  }
  return value;
}

FileRange range_at(Bytes bytes, uint64_t offset) {
  return {number_at<uint64_t>(bytes, offset), number_at<uint64_t>(bytes, offset + 8)};
}

bool lies_within(const FileRange& range, uint64_t size) {
  return range.offset <= size && range.size <= size - range.offset;
}

Bytes part(Bytes bytes, const FileRange& range) { return bytes.subspan(range.offset, range.size); }

Failure invalid(const std::string& what, const std::string& at) {
  return fail("archive-invalid", what, at, "export again, or get the archive again");
}

}  // namespace

Result<FileRanges> read_irpa_ranges(std::span<const std::byte> bytes, const std::string& path) {
  if (bytes.size() < kIrpaHeaderSize || number_at<uint32_t>(bytes, 0) != kMagic) {
    return invalid("the file does not begin as an .irpa archive does", path);
  }
  if (number_at<uint32_t>(bytes, 4) != 0 ||
      number_at<uint64_t>(bytes, kSizeOfHeader) != kIrpaHeaderSize) {
    return invalid("the archive is not of version 0", path);
  }
  const FileRange entries = range_at(bytes, kEntries);
  const FileRange names = range_at(bytes, kNames);
  const FileRange storage = range_at(bytes, kStorage);
  for (const FileRange& one : {entries, names, storage}) {
    if (!lies_within(one, bytes.size())) {
      return invalid(fmt::format("a part of {} bytes at {} does not lie in the file of {}",
                                 one.size, one.offset, bytes.size()),
                     path);
    }
  }
  FileRanges ranges;
  uint64_t next = 0;  // in the entries
  const auto count = number_at<uint64_t>(bytes, kEntryCount);
  for (uint64_t i = 0; i < count; ++i) {
    const std::string at = fmt::format("{}: entry {}", path, i);
    if (!lies_within({next, kIrpaEntrySize}, entries.size))
      return invalid("the entry is cut off", at);
    const Bytes entry = part(bytes, entries).subspan(next, kIrpaEntrySize);
    if (number_at<uint32_t>(entry, kType) != kIrpaDataEntry ||
        number_at<uint64_t>(entry, 0) != kIrpaEntrySize) {
      return invalid("the entry is of no kind that is read: it has no data", at);
    }
    const FileRange name = range_at(entry, kName);
    FileRange data = range_at(entry, kData);
    if (!lies_within(name, names.size)) return invalid("the name lies outside the names", at);
    if (!lies_within(data, storage.size)) return invalid("the data lie outside the file", at);
    data.offset += storage.offset;
    const Bytes key = part(part(bytes, names), name);
    std::string text(reinterpret_cast<const char*>(key.data()), key.size());
    if (!ranges.emplace(std::move(text), data).second)
      return invalid("a key stands there twice", at);
    next += kIrpaEntryStride;
  }
  return ranges;
}

}  // namespace capra
