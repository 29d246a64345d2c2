// The bytes of parameter archives: the layout, spelled out, and what is refused.
#include "capra/targets/stablehlo/irpa.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "capra/base/buffer.h"
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
