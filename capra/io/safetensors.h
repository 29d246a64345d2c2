// Safetensors files: read from a memory mapping with every rule of the format checked, and written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/buffer.h"
#include "capra/base/hashed_file.h"
#include "capra/base/result.h"
#include "capra/ir/array.h"

namespace capra {

/// One tensor of a file: its bytes are [begin, end) of the data section.
struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> sizes;
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// An open file. Its arrays share the mapping and keep it alive; copies share it too.
class SafetensorsFile {
 public:
  /// The largest header the format allows, in bytes.
  static constexpr uint64_t kMaxHeaderBytes = 100'000'000;

  /// Maps a file and checks all of it but the data. Fails with those of map_file,
  /// `safetensors-truncated`, `safetensors-header`, `safetensors-metadata`, `safetensors-dtype`,
  /// `safetensors-shape`, `safetensors-size`, `safetensors-layout`, and those of Json::parse.
  static Result<SafetensorsFile> open(const std::string& path);
  /// The same for bytes in memory; `path` names them in messages.
  static Result<SafetensorsFile> parse(std::shared_ptr<Buffer> bytes, std::string path);

  const std::string& path() const { return path_; }
  size_t file_bytes() const { return bytes_->size(); }
  /// Sorted by name.
  const std::vector<SafetensorsEntry>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// Where the data section begins in the file.
  size_t data_begin() const { return data_begin_; }
  /// Null if there is none.
  const SafetensorsEntry* find(std::string_view name) const;

  /// The data: a view of the file, or a copy where the file has it at an address its dtype cannot
  /// have. Fails with `tensor-missing`, or `safetensors-bool` for a bool that is neither 0 nor 1.
  Result<Array> array(std::string_view name) const;

 private:
  std::string path_;
  std::shared_ptr<Buffer> bytes_;
  size_t data_begin_ = 0;
  std::vector<SafetensorsEntry> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// The bytes of a file in the layout of the reference writer: widest dtype first, then by name,
/// header padded with spaces to a multiple of 8.
std::string safetensors_bytes(const std::map<std::string, Array>& tensors,
                              const std::map<std::string, std::string>& metadata = {});

/// Writes such a file, one tensor at a time; fails as HashedFile does.
Result<FileDigest> write_safetensors(const std::string& path,
                                     const std::map<std::string, Array>& tensors,
                                     const std::map<std::string, std::string>& metadata = {});

/// A tensor of which only the type is known until it is written.
struct TensorSource {
  TensorType type;
  std::function<Result<Array>()> data;  ///< called once, in the order of the file
};

/// The same file of tensors that are made one at a time, and not kept.
Result<FileDigest> write_safetensors_of(const std::string& path,
                                        const std::map<std::string, TensorSource>& tensors,
                                        const std::map<std::string, std::string>& metadata = {});

/// An array as f32 with the same values: f32 itself, f16 and bf16 widened exactly. Fails with
/// `weights-dtype` for any other dtype.
Result<Array> widen_to_f32(const Array& array);

}  // namespace capra
