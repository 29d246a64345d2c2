// The weights of a checkpoint folder: one safetensors file, or shards with an index.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/result.h"
#include "capra/io/safetensors.h"

namespace capra {

/// All tensors of a folder by name. Copies share the mappings.
class Checkpoint {
 public:
  /// Opens `model.safetensors`, else the shards that `model.safetensors.index.json` lists. Every
  /// tensor of every shard counts, also one the index leaves out. Fails with those of
  /// SafetensorsFile, `weights-missing`, `weights-pickled` (only PyTorch pickles are there),
  /// `checkpoint-index`, `checkpoint-shard-name` (a path that leaves the folder),
  /// `checkpoint-shard-missing`, or `checkpoint-shard-mismatch` (the index and the shards
  /// disagree).
  static Result<Checkpoint> open_folder(const std::string& folder);

  /// What was opened, for messages: the file, or the index.
  const std::string& path() const { return path_; }
  const std::vector<SafetensorsFile>& files() const { return files_; }
  /// Names, sorted.
  std::vector<std::string> names() const;
  /// Null if there is none.
  const SafetensorsEntry* find(std::string_view name) const;
  /// As SafetensorsFile::array.
  Result<Array> array(std::string_view name) const;
  /// Bytes of all files on disk.
  size_t file_bytes() const;

 private:
  Status add(SafetensorsFile file);

  std::string path_;
  std::vector<SafetensorsFile> files_;
  std::map<std::string, size_t, std::less<>> file_of_;
};

}  // namespace capra
