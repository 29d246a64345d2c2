// The f64 functions of the numeric contract on one lane, portable; math_f64.inc has the
// definitions. What they need of a type V: V::all(c), V::Int with Int::all, and add sub mul div
// sqrt neg abs fma copy_sign min max lt eq select is_nan to_bits from_bits to_f64, on Int sub
// shift_left shift_right.
#pragma once

#include <cstdint>

namespace capra::kernels {
namespace {
namespace f64_math {

struct Long {
  int64_t value;
  static constexpr Long all(int64_t c) { return {c}; }
};
struct Double {
  double value;
  using Int = Long;
  static constexpr Double all(double c) { return {c}; }
};

inline Double add(Double a, Double b) { return {a.value + b.value}; }
inline Double sub(Double a, Double b) { return {a.value - b.value}; }
inline Double mul(Double a, Double b) { return {a.value * b.value}; }
inline Double div(Double a, Double b) { return {a.value / b.value}; }
inline Double sqrt(Double a) { return {__builtin_sqrt(a.value)}; }
inline Double neg(Double a) { return {-a.value}; }
inline Double abs(Double a) { return {__builtin_fabs(a.value)}; }
inline Double fma(Double a, Double b, Double c) {
  return {__builtin_fma(a.value, b.value, c.value)};
}
inline Double copy_sign(Double a, Double s) { return {__builtin_copysign(a.value, s.value)}; }
inline Double min(Double a, Double b) { return a.value < b.value ? a : b; }
inline Double max(Double a, Double b) { return a.value > b.value ? a : b; }
inline bool lt(Double a, Double b) { return a.value < b.value; }
inline bool eq(Double a, Double b) { return a.value == b.value; }
inline bool is_nan(Double a) { return a.value != a.value; }
inline Double select(bool m, Double yes, Double no) { return m ? yes : no; }
inline Long to_bits(Double a) { return {__builtin_bit_cast(int64_t, a.value)}; }
inline Double from_bits(Long a) { return {__builtin_bit_cast(double, a.value)}; }
inline Double to_f64(Long a) { return {static_cast<double>(a.value)}; }
inline Long sub(Long a, Long b) {
  return {static_cast<int64_t>(static_cast<uint64_t>(a.value) - static_cast<uint64_t>(b.value))};
}
template <int n>
inline Long shift_left(Long a) {
  return {static_cast<int64_t>(static_cast<uint64_t>(a.value) << n)};
}
template <int n>
inline Long shift_right(Long a) {
  return {a.value >> n};
}

#define CAPRA_INLINE inline
#include "capra/targets/cpu/kernels/math_f64.inc"
#undef CAPRA_INLINE

}  // namespace f64_math
}  // namespace
}  // namespace capra::kernels
