// Archives of the IREE runtime (.irpa, version 0): which bytes of the file a key stands for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "capra/base/result.h"

namespace capra {

/// Sizes of the layout, in bytes, for its reader and its writer.
inline constexpr uint64_t kIrpaHeaderSize = 88;
inline constexpr uint64_t kIrpaEntrySize = 76;
/// From one entry to the next: its size, rounded up to 16.
inline constexpr uint64_t kIrpaEntryStride = 80;
/// What an entry with data is marked by.
inline constexpr uint32_t kIrpaDataEntry = 2;

/// Bytes of a file.
struct FileRange {
  uint64_t offset = 0;
  uint64_t size = 0;
  friend bool operator==(const FileRange&, const FileRange&) = default;
};

/// Keys of an archive with their data. Ranges may overlap: several keys can have the same data.
using FileRanges = std::map<std::string, FileRange, std::less<>>;

/// Reads the entries of an archive of which `bytes` is the whole file; `path` names it in messages.
/// The ranges lie within the file. Fails with `archive-invalid` for what breaks the format, for a
/// key that stands there twice, and for entries of other kinds than data.
Result<FileRanges> read_irpa_ranges(std::span<const std::byte> bytes, const std::string& path);

}  // namespace capra
