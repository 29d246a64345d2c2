// Which files a folder's weights are in, and that the index and its shards agree.
#include "capra/io/checkpoint.h"

#include <fmt/format.h>

#include <set>

#include "capra/base/buffer.h"
#include "capra/io/json.h"

namespace capra {
namespace {

Failure index_failure(const std::string& what, const std::string& path) {
  return fail("checkpoint-index", what, path, "get the index file again");
}

// A shard is a file of the folder itself.
bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

Result<std::map<std::string, std::string>> read_index(const std::string& path) {
  CAPRA_ASSIGN(const Json json, read_json_file(path));
  const Json* map = json.find("weight_map");
  if (map == nullptr || !map->is_object()) {
    return index_failure(fmt::format("weight_map is {}, needed an object of file names",
                                     map == nullptr ? "missing" : map->kind_text()),
                         path);
  }
  if (map->members().empty()) return index_failure("weight_map names no tensor", path);
  std::map<std::string, std::string> shard_of;
  for (const auto& [name, shard] : map->members()) {
    if (!shard.is_string()) {
      return index_failure(fmt::format("the shard of {} is {}, needed a file name",
                                       Json(name).text(), shard.kind_text()),
                           path);
    }
    if (!is_plain_file_name(*shard.as_string())) {
      return fail("checkpoint-shard-name",
                  fmt::format("the shard of {} is {}, needed the name of a file in this folder",
                              Json(name).text(), shard.text()),
                  path, "name the shards without folders");
    }
    shard_of.emplace(name, *shard.as_string());
  }
  return shard_of;
}

}  // namespace

Status Checkpoint::add(SafetensorsFile file) {
  for (const SafetensorsEntry& entry : file.tensors()) {
    const auto [place, is_new] = file_of_.emplace(entry.name, files_.size());
    if (!is_new) {
      return fail("checkpoint-shard-mismatch",
                  fmt::format("{} is in two shards, {} and {}", Json(entry.name).text(),
                              files_[place->second].path(), file.path()),
                  path_, "keep the tensor in one shard");
    }
  }
  files_.push_back(std::move(file));
  return {};
}

Result<Checkpoint> Checkpoint::open_folder(const std::string& folder) {
  Checkpoint checkpoint;
  const std::string single = folder + "/model.safetensors";
  const std::string index = folder + "/model.safetensors.index.json";
  if (file_exists(single)) {
    checkpoint.path_ = single;
    CAPRA_ASSIGN(auto file, SafetensorsFile::open(single));
    CAPRA_TRY(checkpoint.add(std::move(file)));
    return checkpoint;
  }
  if (!file_exists(index)) {
    if (file_exists(folder + "/pytorch_model.bin") ||
        file_exists(folder + "/pytorch_model.bin.index.json")) {
      return fail("weights-pickled", "only PyTorch pickles are here, needed model.safetensors",
                  folder, "save the model as safetensors; a pickle runs code when it is opened");
    }
    return fail("weights-missing",
                "found neither model.safetensors nor model.safetensors.index.json", folder,
                "give a folder with the checkpoint's weights");
  }

  checkpoint.path_ = index;
  CAPRA_ASSIGN(const auto shard_of, read_index(index));
  std::set<std::string> shards;
  for (const auto& [name, shard] : shard_of) shards.insert(shard);
  for (const std::string& shard : shards) {
    const std::string path = fmt::format("{}/{}", folder, shard);
    if (!file_exists(path)) {
      return fail("checkpoint-shard-missing",
                  fmt::format("the index names {}, which is not there", shard), index,
                  "get the missing shard");
    }
    CAPRA_ASSIGN(auto file, SafetensorsFile::open(path));
    CAPRA_TRY(checkpoint.add(std::move(file)));
  }
  for (const auto& [name, shard] : shard_of) {
    const auto found = checkpoint.file_of_.find(name);
    const bool here =
        found != checkpoint.file_of_.end() &&
        checkpoint.files_[found->second].path() == fmt::format("{}/{}", folder, shard);
    if (!here) {
      return fail("checkpoint-shard-mismatch",
                  fmt::format("the index says {} is in {}, and it is {}", Json(name).text(), shard,
                              found == checkpoint.file_of_.end()
                                  ? "in no shard"
                                  : "in " + checkpoint.files_[found->second].path()),
                  index, "get index and shards of one version");
    }
  }
  return checkpoint;
}

std::vector<std::string> Checkpoint::names() const {
  std::vector<std::string> names;
  names.reserve(file_of_.size());
  for (const auto& [name, file] : file_of_) names.push_back(name);
  return names;
}

const SafetensorsEntry* Checkpoint::find(std::string_view name) const {
  const auto found = file_of_.find(name);
  return found == file_of_.end() ? nullptr : files_[found->second].find(name);
}

Result<Array> Checkpoint::array(std::string_view name) const {
  const auto found = file_of_.find(name);
  if (found == file_of_.end()) {
    return fail("tensor-missing", fmt::format("there is no tensor {}", Json(name).text()), path_,
                "use a checkpoint that has it");
  }
  return files_[found->second].array(name);
}

size_t Checkpoint::file_bytes() const {
  size_t bytes = 0;
  for (const SafetensorsFile& file : files_) bytes += file.file_bytes();
  return bytes;
}

}  // namespace capra
