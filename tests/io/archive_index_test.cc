// Side files of archives: what is written is read, what is wrong is named.
#include "capra/io/archive_index.h"

#include <gtest/gtest.h>

#include "capra/base/buffer.h"
#include "capra/io/safetensors.h"
#include "tests/base/temp_folder.h"

namespace capra {
namespace {

const char* const kHash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

std::string code_of(const std::string& text) {
  const auto index = parse_archive_index(text, "a.json");
  return index.ok() ? "" : index.error().code;
}

std::string with_parameters(const std::string& rows) {
  return std::string(R"({"archive": {"bytes": 3, "sha256": ")") + kHash + R"("}, "parameters": )" +
         rows + "}";
}

TEST(ArchiveIndex, WhatIsWrittenIsRead) {
  const ArchiveIndex index{
      {3, kHash},
      {{"b", {DType::BF16, {2, 3}}}, {"a", {DType::Bool, {}}}, {"c", {DType::I64, {0}}}}};
  const auto read = parse_archive_index(archive_index_text(index), "a.json");
  ASSERT_TRUE(read.ok()) << to_text(read.error());
  EXPECT_EQ(read->archive, index.archive);
  EXPECT_EQ(read->parameters, index.parameters);
}

TEST(ArchiveIndex, WhatIsWrongIsNamed) {
  EXPECT_EQ(code_of(with_parameters("[]")), "");
  EXPECT_EQ(code_of("{}"), "config-missing-key");
  EXPECT_EQ(code_of(R"({"archive": {"bytes": 3, "sha256": "ba"}})"), "config-wrong-type");
  EXPECT_EQ(code_of(with_parameters("{}")), "config-wrong-type");
  const auto row = [](const char* dtype, const char* shape, const char* bytes) {
    return with_parameters(std::string(R"([{"key": "k", "dtype": ")") + dtype + R"(", "shape": )" +
                           shape + R"(, "bytes": )" + bytes + "}]");
  };
  EXPECT_EQ(code_of(row("f32", "[2]", "8")), "");
  EXPECT_EQ(code_of(row("f32", "[2]", "4")), "archive-index-invalid");
  EXPECT_EQ(code_of(row("f31", "[2]", "8")), "archive-index-invalid");
  EXPECT_EQ(code_of(row("f32", "[4611686018427387904, 4]", "8")), "archive-index-invalid");
  EXPECT_EQ(code_of(row("f32", "[-2]", "8")), "config-wrong-type");
  EXPECT_EQ(code_of(row("f32", "2", "8")), "config-wrong-type");
}

TEST(ArchiveIndex, ATypeOfEqualSizeIsNotTheType) {
  const ArchiveTypes held{{"w", {DType::F32, {3, 2}}}};
  EXPECT_TRUE(check_archived(held, "w", "f32[3, 2]", "a").ok());
  EXPECT_EQ(check_archived(held, "w", "f32[2, 3]", "a").error().code, "parameter-type");
  EXPECT_EQ(check_archived(held, "w", "i32[3, 2]", "a").error().code, "parameter-type");
  EXPECT_EQ(check_archived(held, "v", "f32[3, 2]", "a").error().code, "parameter-missing");
}

TEST(EqualKeys, AreComparedToTheLastByte) {
  const TempFolder folder;
  const std::string path = folder.path() + "/w.safetensors";
  constexpr int64_t kSize = (1 << 20) + 5;  // more than one piece
  const Array zeros = Array::zeros(DType::I8, {kSize});
  Array other = Array::zeros(DType::I8, {kSize});
  other.set_i64(kSize - 1, 1);
  const std::map<std::string, Array> tensors{{"a", zeros},
                                             {"b", Array::zeros(DType::I8, {kSize})},
                                             {"c", other},
                                             {"d", zeros.reshaped({kSize, 1})},
                                             {"e", Array::zeros(DType::I8, {0})},
                                             {"f", Array::zeros(DType::I8, {0})}};
  ASSERT_TRUE(write_safetensors(path, tensors).ok());
  const ArchiveTypes held = read_archive_types(path).value_or_throw();
  const auto check = [&](std::vector<EqualKeys> pairs) {
    return check_equal_data(held, pairs, path);
  };
  EXPECT_TRUE(check({}).ok());
  EXPECT_TRUE(check({{"b", "a"}, {"f", "e"}}).ok());
  const auto refused = [&](const EqualKeys& pair) {
    const Status found = check({{"b", "a"}, pair});
    if (found.ok()) return std::string("equal");
    // Both keys are named.
    EXPECT_EQ(found.error().at, path + ": " + pair.key);
    EXPECT_NE(found.error().message.find(" " + pair.same_as), std::string::npos);
    return found.error().code;
  };
  EXPECT_EQ(refused({"c", "a"}), "parameters-differ");
  EXPECT_EQ(refused({"d", "a"}), "parameter-type");
  EXPECT_EQ(refused({"none", "a"}), "parameter-missing");
  EXPECT_EQ(refused({"a", "none"}), "parameter-missing");
}

TEST(ArchiveIndex, AnArchiveIsBelievedToTheByte) {
  const TempFolder folder;
  const std::string path = folder.path() + "/a.irpa";
  EXPECT_EQ(read_archive_types(path).error().code, "file-not-found");
  ArchiveIndex index;
  index.archive = write_hashed(path, "abc").value_or_throw();
  index.parameters.emplace("w", TensorType{DType::I8, {3}});
  EXPECT_EQ(read_archive_types(path).error().code, "archive-index-missing");
  write_file(archive_index_path(path), archive_index_text(index)).or_throw();
  EXPECT_EQ(read_archive_types(path).value_or_throw(), index.parameters);
  write_file(path, "abd").or_throw();
  EXPECT_EQ(read_archive_types(path).error().code, "file-changed");

  const std::string own = folder.path() + "/a.safetensors";
  ASSERT_TRUE(write_safetensors(own, {{"w", Array::zeros(DType::F16, {2, 1})}}).ok());
  EXPECT_EQ(read_archive_types(own).value_or_throw(), (ArchiveTypes{{"w", {DType::F16, {2, 1}}}}));
}

}  // namespace
}  // namespace capra
