// The arithmetic of the chip against the golden vectors, and its rules at the edges.
#include "capra/targets/ga2/quantize/fixed_point.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/targets/ga2/golden_files.h"

namespace capra::ga2 {
namespace {

TEST(FixedPoint, MultipliersAreThePublishedOnes) {
  const Json file = golden_file("units");
  int64_t count = 0;
  for (const Json& one : expected(file, "mantissa_shift")->items()) {
    const std::optional<Multiplier> made = multiplier_of(*one.find("x")->as_f64());
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->mantissa, *one.find("m")->as_i64()) << one.text();
    EXPECT_EQ(made->shift, *one.find("s")->as_i64()) << one.text();
    ++count;
  }
  EXPECT_EQ(count, 73);
}

TEST(FixedPoint, AFactorOutsideTheRegisterHasNoMultiplier) {
  EXPECT_EQ(multiplier_of(0x1p-40), (Multiplier{1u << 23, 63}));
  EXPECT_EQ(multiplier_of(0x1p23), (Multiplier{1u << 23, 0}));
  for (const double factor :
       {0.0, -1.0, 0x1p-41, 0x1p24, 0x1.ffffffep23, std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_FALSE(multiplier_of(factor).has_value()) << factor;
  }
}

TEST(FixedPoint, QuantizesToTheNearestLevel) {
  const Json file = golden_file("units");
  for (const Json& one : expected(file, "quantize")->items()) {
    EXPECT_EQ(quantize(*one.find("v")->as_f64(), *one.find("scale")->as_f64()),
              *one.find("q")->as_i64())
        << one.text();
  }
  EXPECT_EQ(quantize(1e300, 1e-300), 127);
  EXPECT_EQ(quantize(-1e300, 1e-300), -127);
}

TEST(FixedPoint, RequantizesToTheNearestLevelHalvesAwayFromZero) {
  const Json file = golden_file("units");
  for (const Json& one : expected(file, "requant")->items()) {
    const Multiplier factor{static_cast<uint32_t>(*one.find("m")->as_i64()),
                            static_cast<uint32_t>(*one.find("s")->as_i64())};
    EXPECT_EQ(requantize(static_cast<int32_t>(*one.find("acc")->as_i64()), factor,
                         *one.find("relu")->as_i64() != 0),
              *one.find("q")->as_i64())
        << one.text();
  }
  EXPECT_EQ(requantize(5, {1, 1}, false), 3);
  EXPECT_EQ(requantize(-5, {1, 1}, false), -3);
  EXPECT_EQ(requantize(-5, {1, 1}, true), 0);
  // The largest product of the registers, and shifts up to the last.
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(requantize(kLeast, {(1u << 24) - 1, 0}, false), -127);
  EXPECT_EQ(requantize(kLeast, {1u << 23, 54}, false), -1);
  EXPECT_EQ(requantize(kLeast, {1u << 23, 55}, false), -1);
  EXPECT_EQ(requantize(kLeast, {1u << 23, 56}, false), 0);
  EXPECT_EQ(requantize(kLeast, {(1u << 24) - 1, 63}, false), 0);
}

TEST(FixedPoint, TheSoftmaxOfARowHasTheGoldenBits) {
  const Json file = golden_file("units");
  const std::span<const Json> table = expected(file, "softmax_table")->items();
  ASSERT_EQ(table.size(), 256u);
  for (size_t d = 0; d < table.size(); ++d) EXPECT_EQ(exponent_table()[d], *table[d].as_i64()) << d;
  const Multiplier to_level = *multiplier_of(127.0 / 65536);
  for (const Json& one : expected(file, "softmax")->items()) {
    std::vector<int32_t> row;
    for (const Json& x : one.find("row")->items()) row.push_back(static_cast<int32_t>(*x.as_i64()));
    std::vector<uint32_t> fractions(row.size());
    softmax_row(row, fractions);
    for (size_t i = 0; i < row.size(); ++i) {
      EXPECT_EQ(fractions[i], *one.find("p")->items()[i].as_i64()) << one.text();
      EXPECT_EQ(requantize(static_cast<int32_t>(fractions[i]), to_level, false),
                *one.find("q")->items()[i].as_i64())
          << one.text();
    }
  }
}

}  // namespace
}  // namespace capra::ga2
