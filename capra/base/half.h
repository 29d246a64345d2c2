// Scalar conversions between binary32 / binary64 and the two 16-bit floats, f16 (binary16) and
// bf16. Everything here is constexpr, header-only and free of the floating-point environment.
#pragma once

#include <bit>
#include <cstdint>

namespace capra {

/// Exact. A NaN keeps its sign and payload bits.
[[gnu::always_inline]] constexpr float bf16_to_f32(std::uint16_t h) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(h) << 16);
}

/// Rounds to nearest, ties to even; overflows to infinity. A NaN stays a NaN: it is made quiet and
/// keeps its sign and the payload bits that fit.
[[gnu::always_inline]] constexpr std::uint16_t f32_to_bf16(float f) {
  const auto bits = std::bit_cast<std::uint32_t>(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x0040u);
  }
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// Exact, subnormals included. A NaN keeps its sign and payload bits.
[[gnu::always_inline]] constexpr float f16_to_f32(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  std::uint32_t magnitude = h & 0x7fffu;
  if (magnitude >= 0x7c00u) {  // infinity or NaN
    return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  }
  if (magnitude >= 0x0400u) {  // normal: move the exponent bias from 15 to 127
    return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
  }
  if (magnitude == 0) return std::bit_cast<float>(sign);
  const auto shift = static_cast<std::uint32_t>(std::countl_zero(magnitude)) - 21u;
  magnitude = (magnitude << shift) & 0x3ffu;
  return std::bit_cast<float>(sign | ((113u - shift) << 23) | (magnitude << 13));
}

/// Rounds to nearest, ties to even, subnormal results included; overflows to infinity. A NaN stays
/// a NaN: it is made quiet and keeps its sign and the payload bits that fit.
[[gnu::always_inline]] constexpr std::uint16_t f32_to_f16(float f) {
  const auto bits = std::bit_cast<std::uint32_t>(f);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x477ff000u) {  // 65520 and above round to infinity
    return static_cast<std::uint16_t>(sign | 0x7c00u);
  }
  if (magnitude >= 0x38800000u) {  // a normal result: rebias, then round away 13 bits
    const std::uint32_t rebiased = magnitude - (112u << 23);
    return static_cast<std::uint16_t>(sign | ((rebiased + 0xfffu + ((rebiased >> 13) & 1u)) >> 13));
  }
  if (magnitude < 0x33000000u) return sign;  // below half of the least subnormal
  const std::uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
  const std::uint32_t drop = 126u - (magnitude >> 23);  // 14 to 24 bits go
  const std::uint32_t kept = significand >> drop;
  const std::uint32_t rest = significand & ((1u << drop) - 1u);
  const std::uint32_t half = 1u << (drop - 1u);
  const std::uint32_t up = (rest > half || (rest == half && (kept & 1u) != 0)) ? 1u : 0u;
  return static_cast<std::uint16_t>(sign | (kept + up));
}

/// Binary64 to binary32 rounding to odd: truncates, and sets the last bit if anything was lost.
/// A narrower format rounded to nearest from this value is rounded once from the binary64 one.
[[gnu::always_inline]] constexpr float f64_to_f32_round_to_odd(double d) {
  const auto bits = std::bit_cast<std::uint64_t>(d);
  const auto sign = static_cast<std::uint32_t>((bits >> 32) & 0x80000000u);
  const std::uint64_t magnitude = bits & 0x7fffffffffffffffull;
  if (magnitude > 0x7ff0000000000000ull) {
    const auto payload = static_cast<std::uint32_t>((magnitude >> 29) & 0x7fffffu);
    return std::bit_cast<float>(sign | 0x7fc00000u | payload);
  }
  if (magnitude == 0x7ff0000000000000ull) return std::bit_cast<float>(sign | 0x7f800000u);
  if (magnitude >= 0x47f0000000000000ull) return std::bit_cast<float>(sign | 0x7f7fffffu);
  if (magnitude >= 0x3810000000000000ull) {
    const std::uint64_t rebiased = magnitude - (896ull << 52);
    const std::uint32_t sticky = (rebiased & 0x1fffffffull) != 0 ? 1u : 0u;
    return std::bit_cast<float>(sign | static_cast<std::uint32_t>(rebiased >> 29) | sticky);
  }
  const std::uint64_t exponent = magnitude >> 52;
  if (exponent < 874) return std::bit_cast<float>(sign | (magnitude != 0 ? 1u : 0u));
  const std::uint64_t significand = (magnitude & 0xfffffffffffffull) | 0x10000000000000ull;
  const std::uint64_t drop = 926u - exponent;  // 30 to 52 bits go
  const std::uint32_t sticky = (significand & ((1ull << drop) - 1u)) != 0 ? 1u : 0u;
  return std::bit_cast<float>(sign | static_cast<std::uint32_t>(significand >> drop) | sticky);
}

/// One rounding to nearest even, straight from binary64.
[[gnu::always_inline]] constexpr std::uint16_t f64_to_f16(double d) {
  return f32_to_f16(f64_to_f32_round_to_odd(d));
}

/// One rounding to nearest even, straight from binary64.
[[gnu::always_inline]] constexpr std::uint16_t f64_to_bf16(double d) {
  return f32_to_bf16(f64_to_f32_round_to_odd(d));
}

}  // namespace capra
