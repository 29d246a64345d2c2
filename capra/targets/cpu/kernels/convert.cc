// Conversions between all element types.
#include <cstring>
#include <limits>
#include <type_traits>

#include "capra/base/half.h"
#include "capra/targets/cpu/kernels/elementwise.h"

namespace capra::kernels {
namespace {

// One element type: how it is stored, and its value as a float, a double or an integer.
template <class T>
struct Plain {
  using Stored = T;
  static T value(T x) { return x; }
};
struct Half {
  using Stored = uint16_t;
  static float value(uint16_t x) { return f16_to_f32(x); }
};
struct Brain {
  using Stored = uint16_t;
  static float value(uint16_t x) { return bf16_to_f32(x); }
};
struct Boolean {
  using Stored = uint8_t;
  static uint8_t value(uint8_t x) { return x != 0 ? 1 : 0; }
};

// An integer as a double that a narrower float rounds from as from the integer itself: beyond 53
// bits the last bit says whether anything was cut.
template <class I>
double to_f64_round_to_odd(I v) {
  if constexpr (sizeof(I) < 8) {
    return static_cast<double>(v);
  } else {
    const bool negative = v < 0;
    const auto bits = static_cast<uint64_t>(v);
    uint64_t magnitude = negative ? 0 - bits : bits;
    if (magnitude >= (1ull << 53)) {
      const uint64_t cut = magnitude & 0x7ffu;
      magnitude = (magnitude - cut) | (cut != 0 ? 0x800u : 0u);
    }
    const auto d = static_cast<double>(magnitude);
    return negative ? -d : d;
  }
}

template <class I>
I saturate(double v) {
  constexpr bool kSigned = std::is_signed_v<I>;
  constexpr double kTop = (kSigned ? 1.0 : 2.0) * static_cast<double>(1ull << (8 * sizeof(I) - 1));
  if (v != v) return 0;
  if (v >= kTop) return std::numeric_limits<I>::max();
  if (v <= (kSigned ? -kTop : 0.0)) return std::numeric_limits<I>::min();
  return static_cast<I>(v);
}

template <class To, class Value>
typename To::Stored narrow_to(Value v) {
  if constexpr (std::is_same_v<To, Boolean>) {
    return v != 0 ? 1 : 0;
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, Brain>) {
    constexpr bool kHalf = std::is_same_v<To, Half>;
    if constexpr (std::is_same_v<Value, float>) {
      return kHalf ? f32_to_f16(v) : f32_to_bf16(v);
    } else if constexpr (std::is_same_v<Value, double>) {
      return kHalf ? f64_to_f16(v) : f64_to_bf16(v);
    } else {
      const double d = to_f64_round_to_odd(v);
      return kHalf ? f64_to_f16(d) : f64_to_bf16(d);
    }
  } else {
    using T = typename To::Stored;
    if constexpr (std::is_integral_v<T> && std::is_floating_point_v<Value>) {
      return saturate<T>(v);
    } else {
      return static_cast<T>(v);
    }
  }
}

template <class From, class To>
void convert_row(const void* x, void* y, int64_t n) {
  const auto* from = static_cast<const typename From::Stored*>(x);
  auto* to = static_cast<typename To::Stored*>(y);
  for (int64_t i = 0; i < n; ++i) to[i] = narrow_to<To>(From::value(from[i]));
}

template <class F>
void for_element(Element type, F f) {
  switch (type) {
    case Element::F64:
      return f(Plain<double>{});
    case Element::F32:
      return f(Plain<float>{});
    case Element::F16:
      return f(Half{});
    case Element::BF16:
      return f(Brain{});
    case Element::I64:
      return f(Plain<int64_t>{});
    case Element::I32:
      return f(Plain<int32_t>{});
    case Element::I16:
      return f(Plain<int16_t>{});
    case Element::I8:
      return f(Plain<int8_t>{});
    case Element::U64:
      return f(Plain<uint64_t>{});
    case Element::U32:
      return f(Plain<uint32_t>{});
    case Element::U16:
      return f(Plain<uint16_t>{});
    case Element::U8:
      return f(Plain<uint8_t>{});
    case Element::Bool:
      return f(Boolean{});
  }
}

}  // namespace

void convert(Element from, const void* x, Element to, void* y, int64_t n) {
  if (from == to) {
    std::memmove(y, x, static_cast<size_t>(n) * element_bytes(from));
    return;
  }
  for_element(from, [&](auto source) {
    for_element(to, [&](auto target) { convert_row<decltype(source), decltype(target)>(x, y, n); });
  });
}

}  // namespace capra::kernels
