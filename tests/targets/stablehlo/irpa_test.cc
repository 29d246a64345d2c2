// The bytes of parameter archives: the layout, spelled out, and what is refused.
#include "capra/targets/stablehlo/irpa.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <span>

#include "capra/base/buffer.h"
#include "capra/io/irpa_file.h"
#include "tests/base/temp_folder.h"

namespace capra::stablehlo {
namespace {

class Irpa : public ::testing::Test {
 protected:
  std::string path() const { return folder_.path() + "/w.irpa"; }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_.path()),
                                             std::filesystem::directory_iterator()));
  }

  TempFolder folder_;
};

template <class T>
T number_at(const std::string& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

Global global(const std::string& key, TensorType type) { return {key, "model", key, type}; }

TEST_F(Irpa, HasItsPartsWhereTheFormatSays) {
  const Parameters parameters{
      {"a.b", Array::of<float>(DType::F32, {3}, std::vector<float>{1, -2, 0.5F})},
      {"c", Array::of<int8_t>(DType::I8, {2, 1}, std::vector<int8_t>{7, -7})}};
  const Global globals[] = {global("c", {DType::I8, {2, 1}}), global("a.b", {DType::F32, {3}})};
  ASSERT_TRUE(write_irpa(path(), globals, parameters).ok());
  const std::string bytes = read_file(path()).value_or_throw();

  ASSERT_EQ(bytes.size(), 4096U);
  EXPECT_EQ(bytes.substr(0, 4), "IRPA");
  EXPECT_EQ(number_at<uint32_t>(bytes, 4), 0U);    // version
  EXPECT_EQ(number_at<uint64_t>(bytes, 8), 88U);   // header
  EXPECT_EQ(number_at<uint64_t>(bytes, 32), 2U);   // entries
  EXPECT_EQ(number_at<uint64_t>(bytes, 40), 96U);  // where they are
  EXPECT_EQ(number_at<uint64_t>(bytes, 48), 156U);
  EXPECT_EQ(number_at<uint64_t>(bytes, 56), 252U);  // names
  EXPECT_EQ(number_at<uint64_t>(bytes, 64), 4U);
  EXPECT_EQ(number_at<uint64_t>(bytes, 72), 256U);  // data
  EXPECT_EQ(number_at<uint64_t>(bytes, 80), 76U);
  EXPECT_EQ(number_at<uint64_t>(bytes, 96), 76U);   // the first entry
  EXPECT_EQ(number_at<uint32_t>(bytes, 104), 2U);   // holds data
  EXPECT_EQ(number_at<uint64_t>(bytes, 124), 1U);   // length of its name
  EXPECT_EQ(number_at<uint64_t>(bytes, 148), 64U);  // alignment
  EXPECT_EQ(number_at<uint64_t>(bytes, 156), 0U);   // offset and length of its data
  EXPECT_EQ(number_at<uint64_t>(bytes, 164), 2U);
  EXPECT_EQ(number_at<uint64_t>(bytes, 176), 76U);  // the second, 16-aligned
  EXPECT_EQ(number_at<uint64_t>(bytes, 236), 64U);
  EXPECT_EQ(number_at<uint64_t>(bytes, 244), 12U);
  EXPECT_EQ(bytes.substr(252, 4), "ca.b");
  EXPECT_EQ(number_at<int8_t>(bytes, 257), -7);
  EXPECT_EQ(number_at<float>(bytes, 320), 1.0F);
  EXPECT_EQ(number_at<float>(bytes, 328), 0.5F);
  EXPECT_EQ(bytes.find_first_not_of('\0', 332), std::string::npos);
}

Result<FileRanges> ranges_of(const std::string& bytes) {
  return read_irpa_ranges(std::as_bytes(std::span(bytes)), "w.irpa");
}

// The same offsets as above, but for the entries behind them, whose names come last.
TEST_F(Irpa, EqualKeysFindDataThatStandThereOnce) {
  const Parameters parameters{
      {"a.b", Array::of<float>(DType::F32, {3}, std::vector<float>{1, -2, 0.5F})},
      {"c", Array::of<int8_t>(DType::I8, {2, 1}, std::vector<int8_t>{7, -7})}};
  Global globals[] = {global("c", {DType::I8, {2, 1}}), global("a.b", {DType::F32, {3}})};
  ASSERT_TRUE(write_irpa(path(), globals, parameters).ok());
  EXPECT_EQ(ranges_of(read_file(path()).value_or_throw()).value_or_throw(),
            (FileRanges{{"a.b", {320, 12}}, {"c", {256, 2}}}));
  globals[0].equal_keys = {"cc", "ccc"};
  globals[1].equal_keys = {"tied"};
  ASSERT_TRUE(write_irpa(path(), globals, parameters).ok());
  const std::string bytes = read_file(path()).value_or_throw();
  ASSERT_EQ(bytes.size(), 4096U);
  EXPECT_EQ(number_at<uint64_t>(bytes, 32), 5U);
  EXPECT_EQ(number_at<uint64_t>(bytes, 48), 396U);  // four times 80, and 76
  EXPECT_EQ(bytes.substr(492, 13), "ca.bccccctied");
  EXPECT_EQ(number_at<uint64_t>(bytes, 72), 512U);
  EXPECT_EQ(number_at<uint64_t>(bytes, 80), 76U);  // bytes of data, as without them
  EXPECT_EQ(ranges_of(bytes).value_or_throw(), (FileRanges{{"a.b", {576, 12}},
                                                           {"c", {512, 2}},
                                                           {"cc", {512, 2}},
                                                           {"ccc", {512, 2}},
                                                           {"tied", {576, 12}}}));
}

TEST_F(Irpa, WhatBreaksTheFormatIsRefused) {
  const Parameters parameters{{"a", Array::zeros(DType::I8, {2})},
                              {"b", Array::zeros(DType::I8, {2})}};
  const Global globals[] = {global("a", {DType::I8, {2}}), global("b", {DType::I8, {2}})};
  ASSERT_TRUE(write_irpa(path(), globals, parameters).ok());
  const std::string good = read_file(path()).value_or_throw();
  ASSERT_TRUE(ranges_of(good).ok());
  const auto message = [&](size_t at, uint64_t value, size_t size = 8) {
    std::string bytes = good;
    std::memcpy(bytes.data() + at, &value, size);
    const Result<FileRanges> found = ranges_of(bytes);
    if (found.ok()) return std::string("read");
    EXPECT_EQ(found.error().code, "archive-invalid");
    return found.error().message;
  };
  constexpr uint64_t kMany = UINT64_MAX;
  EXPECT_EQ(message(0, 0, 1), "the file does not begin as an .irpa archive does");
  EXPECT_EQ(message(4, 1, 2), "the archive is not of version 0");
  EXPECT_EQ(message(8, 96), "the archive is not of version 0");
  EXPECT_EQ(message(32, 3), "the entry is cut off");
  EXPECT_EQ(message(32, kMany), "the entry is cut off");
  for (const size_t part : {40, 56, 72}) {  // offsets of entries, names and data
    EXPECT_NE(message(part, kMany).find("does not lie in the file of 4096"), std::string::npos);
    EXPECT_NE(message(part + 8, kMany).find("does not lie in the file of 4096"), std::string::npos);
  }
  EXPECT_EQ(message(96, 80), "the entry is of no kind that is read: it has no data");
  EXPECT_EQ(message(104, 1, 4), "the entry is of no kind that is read: it has no data");
  EXPECT_EQ(message(116, 2), "the name lies outside the names");
  EXPECT_EQ(message(124, kMany), "the name lies outside the names");
  EXPECT_EQ(message(156, 65), "the data lie outside the file");
  EXPECT_EQ(message(164, kMany), "the data lie outside the file");
  EXPECT_EQ(message(116, 1), "a key stands there twice");
  EXPECT_FALSE(ranges_of(good.substr(0, 87)).ok());
  EXPECT_FALSE(ranges_of("").ok());
}

TEST_F(Irpa, RefusesWhatIsMissingOrOfAnotherTypeAndLeavesNothing) {
  const Parameters parameters{{"w", Array::zeros(DType::F32, {2, 3})}};
  const Global absent[] = {global("v", {DType::F32, {2}})};
  EXPECT_EQ(write_irpa(path(), absent, parameters).error().code, "parameter-missing");
  // As many bytes, which the runtime could not tell apart.
  const Global turned[] = {global("w", {DType::F32, {3, 2}})};
  EXPECT_EQ(write_irpa(path(), turned, parameters).error().code, "parameter-type");
  EXPECT_EQ(files(), 0U);
  const Global good[] = {global("w", {DType::F32, {2, 3}})};
  EXPECT_EQ(write_irpa(folder_.path() + "/none/w.irpa", good, parameters).error().code,
            "file-unwritable");
  ASSERT_TRUE(write_irpa(path(), good, parameters).ok());
  EXPECT_EQ(files(), 1U);
}

}  // namespace
}  // namespace capra::stablehlo
