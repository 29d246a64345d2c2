// f16 and bf16 conversions against exact arithmetic in double: every widening, and narrowings at
// a stride (set by CAPRA_HALF_STRIDE at compile time; 1 visits all 2^32 floats).
#include "capra/base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace capra {
namespace {

#ifndef CAPRA_HALF_STRIDE
#define CAPRA_HALF_STRIDE 9973
#endif
constexpr std::uint64_t kStride = CAPRA_HALF_STRIDE;
#undef CAPRA_HALF_STRIDE

struct Format {
  int mantissa_bits;
  int exponent_bits;
};
constexpr Format kF16{10, 5};
constexpr Format kBf16{7, 8};

// The value a bit pattern stands for, from the definition of the formats (IEEE 754-2019, 3.4).
double value_of(std::uint32_t bits, Format f) {
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const std::uint32_t fraction = bits & ((1u << f.mantissa_bits) - 1u);
  const auto exponent =
      static_cast<int>((bits >> f.mantissa_bits) & ((1u << f.exponent_bits) - 1u));
  const double sign = ((bits >> (f.mantissa_bits + f.exponent_bits)) & 1u) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << f.exponent_bits) - 1) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - f.mantissa_bits);
  return sign * std::ldexp(fraction + (1u << f.mantissa_bits), exponent - bias - f.mantissa_bits);
}

// The non-negative values in order, infinity last.
std::vector<double> values_of(Format f) {
  std::vector<double> values;
  for (std::uint32_t bits = 0; bits <= ((1u << f.exponent_bits) - 1u) << f.mantissa_bits; ++bits) {
    values.push_back(value_of(bits, f));
  }
  return values;
}

// Round to nearest, ties to even, by choosing between the two neighbours of |x|: the reference
// searches the ordered table of values and never does the bit arithmetic under test.
std::uint32_t nearest(double x, Format f) {
  const std::uint32_t sign_bit = std::signbit(x) ? 1u << (f.mantissa_bits + f.exponent_bits) : 0u;
  const double magnitude = std::fabs(x);
  static const std::vector<double> f16_values = values_of(kF16);
  static const std::vector<double> bf16_values = values_of(kBf16);
  const std::vector<double>& values = f.mantissa_bits == 10 ? f16_values : bf16_values;
  const std::uint32_t infinity = ((1u << f.exponent_bits) - 1u) << f.mantissa_bits;
  std::uint32_t low = 0;  // value_of(low) <= magnitude < value_of(high)
  std::uint32_t high = infinity;
  if (magnitude >= values[infinity - 1u]) {
    low = infinity - 1u;
  }
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (values[middle] <= magnitude ? low : high) = middle;
  }
  const double below = values[low];
  // The place of infinity in the grid is one step above the greatest finite value.
  const double step = below - values[low == 0 ? 0 : low - 1u];
  const double above = high == infinity ? below + step : values[high];
  const double down = magnitude - below;
  const double up = above - magnitude;
  if (down < up) return sign_bit | low;
  if (up < down) return sign_bit | high;
  return sign_bit | ((low & 1u) == 0 ? low : high);
}

bool same_value(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

TEST(half, every_widening_is_exact) {
  for (std::uint32_t h = 0; h < 65536; ++h) {
    const auto bits = static_cast<std::uint16_t>(h);
    ASSERT_TRUE(same_value(f16_to_f32(bits), value_of(h, kF16))) << "f16 " << h;
    ASSERT_TRUE(same_value(bf16_to_f32(bits), value_of(h, kBf16))) << "bf16 " << h;
  }
}

TEST(half, every_value_survives_the_round_trip) {
  for (std::uint32_t h = 0; h < 65536; ++h) {
    const auto bits = static_cast<std::uint16_t>(h);
    const bool f16_nan = (h & 0x7fffu) > 0x7c00u;
    const bool bf16_nan = (h & 0x7fffu) > 0x7f80u;
    // A NaN keeps its sign and payload and becomes quiet.
    ASSERT_EQ(f32_to_f16(f16_to_f32(bits)), f16_nan ? (h | 0x0200u) : h);
    ASSERT_EQ(f32_to_bf16(bf16_to_f32(bits)), bf16_nan ? (h | 0x0040u) : h);
    ASSERT_EQ(f64_to_f16(f16_to_f32(bits)), f16_nan ? (h | 0x0200u) : h);
    ASSERT_EQ(f64_to_bf16(bf16_to_f32(bits)), bf16_nan ? (h | 0x0040u) : h);
  }
}

void check_narrowing(std::uint32_t bits) {
  const auto f = std::bit_cast<float>(bits);
  const std::uint16_t f16 = f32_to_f16(f);
  const std::uint16_t bf16 = f32_to_bf16(f);
  if (std::isnan(f)) {
    ASSERT_GT(f16 & 0x7fffu, 0x7c00u) << bits;
    ASSERT_GT(bf16 & 0x7fffu, 0x7f80u) << bits;
    ASSERT_EQ(f16 >> 15, bits >> 31);
    ASSERT_EQ(bf16 >> 15, bits >> 31);
    return;
  }
  if (std::isinf(f)) {
    ASSERT_EQ(f16, (bits >> 31 << 15) | 0x7c00u);
    ASSERT_EQ(bf16, (bits >> 31 << 15) | 0x7f80u);
    return;
  }
  ASSERT_EQ(f16, nearest(f, kF16)) << bits;
  ASSERT_EQ(bf16, nearest(f, kBf16)) << bits;
}

TEST(half, narrowings_round_to_nearest_even) {
  for (std::uint64_t bits = 0; bits < (1ull << 32); bits += kStride) {
    check_narrowing(static_cast<std::uint32_t>(bits));
    if (HasFatalFailure()) return;
  }
}

TEST(half, narrowings_at_every_boundary) {
  // Every value of the formats, the midpoint above it, and both neighbours of each in f32.
  for (std::uint32_t h = 0; h < 65536; ++h) {
    for (const Format f : {kF16, kBf16}) {
      const double here = value_of(h, f);
      const double next = value_of(h + 1u, f);
      if (!std::isfinite(here) || !std::isfinite(next)) continue;
      for (const double x : {here, (here + next) / 2}) {
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
        for (const std::uint32_t b : {bits - 1u, bits, bits + 1u}) check_narrowing(b);
        for (const double d :
             {x, std::nextafter(x, 1e300), std::nextafter(x, -1e300), x * (1 + 0x1p-40)}) {
          ASSERT_EQ(f64_to_f16(d), nearest(d, kF16)) << d;
          ASSERT_EQ(f64_to_bf16(d), nearest(d, kBf16)) << d;
        }
      }
      if (HasFatalFailure()) return;
    }
  }
}

TEST(half, narrowing_from_double_rounds_once) {
  // 1 + 2^-11 lies between two f16 values; 2^-40 above it must round up, though f32 loses it.
  EXPECT_EQ(f64_to_f16(1.0 + 0x1p-11), 0x3c00u);
  EXPECT_EQ(f64_to_f16(1.0 + 0x1p-11 + 0x1p-40), 0x3c01u);
  EXPECT_EQ(f64_to_bf16(1.0 + 0x1p-8), 0x3f80u);
  EXPECT_EQ(f64_to_bf16(1.0 + 0x1p-8 + 0x1p-40), 0x3f81u);
  EXPECT_EQ(f64_to_f16(1e300), 0x7c00u);
  EXPECT_EQ(f64_to_f16(-1e-300), 0x8000u);
  EXPECT_EQ(f64_to_bf16(3.4e38), 0x7f80u);
  EXPECT_EQ(f64_to_bf16(0x1p-134), 0x0000u);
  EXPECT_EQ(f64_to_bf16(0x1.8p-134), 0x0001u);
  EXPECT_EQ(f64_to_bf16(0x1.0000000001p-134), 0x0001u);
}

}  // namespace
}  // namespace capra
