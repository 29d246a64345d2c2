// The arithmetic of the chip on single values and rows: what its units compute and how real numbers
// become what they compute with. All roundings are to the nearest, halves away from zero.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace capra::ga2 {

/// The largest value of a tensor on the chip; the smallest is its negative.
inline constexpr int32_t kMostLevel = 127;

/// A word as a signed number of 8 bits: its low byte.
constexpr int32_t as_s8(uint32_t word) { return static_cast<int8_t>(word & 0xff); }

constexpr int32_t clamp_level(int64_t value) {
  if (value > kMostLevel) return kMostLevel;
  return value < -kMostLevel ? -kMostLevel : static_cast<int32_t>(value);
}

/// value / scale as a level. `scale` is positive, `value` is no NaN.
int32_t quantize(double value, double scale);

/// A factor as multiplier / 2^shift.
struct Multiplier {
  uint32_t mantissa = 0;  ///< in [2^23, 2^24)
  uint32_t shift = 0;     ///< in [0, 63]
  bool operator==(const Multiplier&) const = default;
};

/// The nearest multiplier; none for a factor that is not positive or lies outside what a multiplier
/// holds, about 1e-12 to 1.6e7.
std::optional<Multiplier> multiplier_of(double factor);

/// accumulator * factor as a level; where `relu`, at least 0. Any mantissa of 24 bits is taken.
constexpr int32_t requantize(int32_t accumulator, Multiplier factor, bool relu) {
  const int64_t product = int64_t{accumulator} * factor.mantissa;
  const int64_t half = factor.shift == 0 ? 0 : int64_t{1} << (factor.shift - 1);
  const int64_t magnitude = ((product < 0 ? -product : product) + half) >> factor.shift;
  const int32_t level = clamp_level(product < 0 ? -magnitude : magnitude);
  return relu && level < 0 ? 0 : level;
}

/// 65535 exp(-d / 16), rounded, for d = 0 to 255: the softmax unit's table.
std::span<const uint32_t, 256> exponent_table();

/// The softmax of a row of levels in Q4.4, as fractions of 65536:
/// p_i = (T[max - x_i] r + 2^21) / 2^22, rounded down, with r = 2^38 / sum of T, rounded down.
/// `fractions` has as many entries as `row`, one or more.
void softmax_row(std::span<const int32_t> row, std::span<uint32_t> fractions);

}  // namespace capra::ga2
