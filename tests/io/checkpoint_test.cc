// A folder's weights: one file, shards with an index, and what can be wrong between them.
#include "capra/io/checkpoint.h"

#include <gtest/gtest.h>

#include "tests/base/temp_folder.h"

namespace capra {
namespace {

std::string shard(std::initializer_list<const char*> names, float value) {
  std::map<std::string, Array> arrays;
  for (const char* name : names) {
    arrays.emplace(name, Array::of<float>(DType::F32, {1}, std::span(&value, 1)));
  }
  return safetensors_bytes(arrays);
}

std::string code_of(const TempFolder& folder) {
  const auto checkpoint = Checkpoint::open_folder(folder.path());
  return checkpoint.ok() ? "ok" : checkpoint.error().code;
}

constexpr const char* kIndex = "model.safetensors.index.json";

TEST(Checkpoint, OneFile) {
  TempFolder folder;
  folder.write("model.safetensors", shard({"b", "a"}, 1.0f));
  const auto checkpoint = Checkpoint::open_folder(folder.path());
  ASSERT_TRUE(checkpoint.ok()) << to_text(checkpoint.error());
  EXPECT_EQ(checkpoint->names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(checkpoint->path(), folder.path() + "/model.safetensors");
  EXPECT_EQ(checkpoint->find("c"), nullptr);
  EXPECT_EQ(checkpoint->array("c").error().code, "tensor-missing");
  EXPECT_EQ(checkpoint->file_bytes(), std::filesystem::file_size(checkpoint->path()));
}

TEST(Checkpoint, ShardsAreOneCheckpoint) {
  TempFolder folder;
  folder.write("model-1.safetensors", shard({"a"}, 1.0f));
  folder.write("model-2.safetensors", shard({"b", "extra"}, 2.0f));
  folder.write(
      kIndex,
      R"({"metadata":{"total_size":12},"weight_map":{"a":"model-1.safetensors","b":"model-2.safetensors"}})");
  const auto checkpoint = Checkpoint::open_folder(folder.path());
  ASSERT_TRUE(checkpoint.ok()) << to_text(checkpoint.error());
  EXPECT_EQ(checkpoint->names(), (std::vector<std::string>{"a", "b", "extra"}));
  EXPECT_EQ(checkpoint->array("a")->as<float>()[0], 1.0f);
  EXPECT_EQ(checkpoint->array("b")->as<float>()[0], 2.0f);
  EXPECT_EQ(checkpoint->files().size(), 2u);
}

TEST(Checkpoint, NoWeightsAndPickledWeightsAreDifferentErrors) {
  TempFolder folder;
  EXPECT_EQ(code_of(folder), "weights-missing");
  folder.write("pytorch_model.bin", "PK");
  EXPECT_EQ(code_of(folder), "weights-pickled");
}

TEST(Checkpoint, ABrokenFileIsNamed) {
  TempFolder folder;
  folder.write("model.safetensors", shard({"a"}, 1.0f).substr(0, 40));
  EXPECT_EQ(code_of(folder), "safetensors-truncated");
}

TEST(Checkpoint, TheIndexIsChecked) {
  TempFolder folder;
  folder.write("s", shard({"a"}, 1.0f));
  const struct {
    const char* index;
    const char* code;
  } cases[] = {
      {R"({"weight_map":{"a":"s"}})", "ok"},
      {R"({"weight_map":{"a":"s"})", "json-syntax"},
      {R"({})", "checkpoint-index"},
      {R"([])", "checkpoint-index"},
      {R"({"weight_map":[]})", "checkpoint-index"},
      {R"({"weight_map":{}})", "checkpoint-index"},
      {R"({"weight_map":{"a":1}})", "checkpoint-index"},
      {R"({"weight_map":{"a":"s","a":"s"}})", "json-duplicate-key"},
      {R"({"weight_map":{"a":"missing"}})", "checkpoint-shard-missing"},
      {R"({"weight_map":{"b":"s"}})", "checkpoint-shard-mismatch"},
      {R"({"weight_map":{"a":"../s"}})", "checkpoint-shard-name"},
      {R"({"weight_map":{"a":"/etc/passwd"}})", "checkpoint-shard-name"},
      {R"({"weight_map":{"a":".."}})", "checkpoint-shard-name"},
      {R"({"weight_map":{"a":""}})", "checkpoint-shard-name"},
      {R"({"weight_map":{"a":"s\u0000.safetensors"}})", "checkpoint-shard-name"},
      {R"({"weight_map":{"a":"sub\\s"}})", "checkpoint-shard-name"},
  };
  for (const auto& c : cases) {
    folder.write(kIndex, c.index);
    EXPECT_EQ(code_of(folder), c.code) << c.index;
  }
}

TEST(Checkpoint, ATensorStandsInTheShardTheIndexNamesAndInNoOther) {
  TempFolder folder;
  folder.write("s1", shard({"a"}, 1.0f));
  folder.write("s2", shard({"b"}, 1.0f));
  folder.write(kIndex, R"({"weight_map":{"a":"s2","b":"s1"}})");
  EXPECT_EQ(code_of(folder), "checkpoint-shard-mismatch");
  folder.write("s2", shard({"a", "b"}, 1.0f));
  folder.write(kIndex, R"({"weight_map":{"a":"s1","b":"s2"}})");
  EXPECT_EQ(code_of(folder), "checkpoint-shard-mismatch");
}

}  // namespace
}  // namespace capra
