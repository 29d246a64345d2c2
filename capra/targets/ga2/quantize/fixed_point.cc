// Quantizing, multipliers, and the softmax of the chip.
#include "capra/targets/ga2/quantize/fixed_point.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace capra::ga2 {

int32_t quantize(double value, double scale) {
  return clamp_level(std::llround(std::clamp(value / scale, -1e3, 1e3)));
}

std::optional<Multiplier> multiplier_of(double factor) {
  constexpr int kMantissaBits = 24;
  if (!(factor > 0) || !std::isfinite(factor)) return std::nullopt;
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);  // in [0.5, 1)
  int64_t mantissa = std::llround(std::ldexp(fraction, kMantissaBits));
  if (mantissa == int64_t{1} << kMantissaBits) {
    mantissa /= 2;
    ++exponent;
  }
  const int shift = kMantissaBits - exponent;
  if (shift < 0 || shift > 63) return std::nullopt;
  return Multiplier{static_cast<uint32_t>(mantissa), static_cast<uint32_t>(shift)};
}

std::span<const uint32_t, 256> exponent_table() {
  static const std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table{};
    for (size_t d = 0; d < table.size(); ++d) {
      table[d] =
          static_cast<uint32_t>(std::lround(65535.0 * std::exp(-static_cast<double>(d) / 16)));
    }
    return table;
  }();
  return kTable;
}

void softmax_row(std::span<const int32_t> row, std::span<uint32_t> fractions) {
  const auto table = exponent_table();
  const int32_t most = std::ranges::max(row);
  uint64_t sum = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    fractions[i] = table[static_cast<size_t>(most - row[i])];
    sum += fractions[i];
  }
  const uint64_t reciprocal = (uint64_t{1} << 38) / sum;
  for (uint32_t& one : fractions) {
    one = static_cast<uint32_t>((one * reciprocal + (uint64_t{1} << 21)) >> 22);
  }
}

}  // namespace capra::ga2
