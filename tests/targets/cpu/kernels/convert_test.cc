// Conversions between all 13 types, judged by arithmetic in long double, which holds every value of
// every type exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "capra/base/half.h"
#include "capra/targets/cpu/kernels/elementwise.h"
#include "tests/targets/cpu/kernels/kernel_reference.h"

namespace capra::kernels {
namespace {

using Value = long double;
static_assert(std::numeric_limits<Value>::digits >= 64);

template <class T>
Value read_as(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return static_cast<Value>(v);
}

Value read_element(Element type, const void* p) {
  switch (type) {
    case Element::F64:
      return read_as<double>(p);
    case Element::F32:
      return read_as<float>(p);
    case Element::F16:
    case Element::BF16: {
      uint16_t bits;
      std::memcpy(&bits, p, 2);
      return type == Element::F16 ? f16_to_f32(bits) : bf16_to_f32(bits);
    }
    case Element::I64:
      return read_as<int64_t>(p);
    case Element::I32:
      return read_as<int32_t>(p);
    case Element::I16:
      return read_as<int16_t>(p);
    case Element::I8:
      return read_as<int8_t>(p);
    case Element::U64:
      return read_as<uint64_t>(p);
    case Element::U32:
      return read_as<uint32_t>(p);
    case Element::U16:
      return read_as<uint16_t>(p);
    case Element::U8:
    case Element::Bool:
      return read_as<uint8_t>(p);
  }
  return 0;
}

bool is_float(Element type) { return type <= Element::BF16; }
bool is_signed(Element type) { return type >= Element::I64 && type <= Element::I8; }

// Whether `bits` is the value of the 16-bit float nearest to v, ties to even.
bool is_nearest(Element type, uint16_t bits, Value v) {
  const auto value = [type](uint16_t h) {
    return static_cast<Value>(type == Element::F16 ? f16_to_f32(h) : bf16_to_f32(h));
  };
  const auto infinity = static_cast<uint16_t>(type == Element::F16 ? 0x7c00 : 0x7f80);
  const auto magnitude = static_cast<uint16_t>(bits & 0x7fff);
  if (std::isnan(v)) return magnitude > infinity;
  if (std::signbit(v) != ((bits & 0x8000) != 0)) return false;
  const Value x = std::fabs(v);
  // What stands in the place of infinity: one step above the greatest finite value.
  const auto grid = [&](uint16_t h) {
    if (h < infinity) return value(h);
    const auto top = static_cast<uint16_t>(infinity - 1);
    return 2 * value(top) - value(static_cast<uint16_t>(top - 1));
  };
  if (magnitude > infinity) return false;
  if (std::isinf(x)) return magnitude == infinity;
  const bool even = (magnitude & 1) == 0;
  if (magnitude > 0) {
    const Value middle = (grid(magnitude) + grid(static_cast<uint16_t>(magnitude - 1))) / 2;
    if (x < middle || (x == middle && !even)) return false;
  }
  if (magnitude < infinity) {
    const Value middle = (grid(magnitude) + grid(static_cast<uint16_t>(magnitude + 1))) / 2;
    if (x > middle || (x == middle && !even)) return false;
  }
  return true;
}

Value saturated(Element type, Value v) {
  if (std::isnan(v)) return 0;
  const int bits = static_cast<int>(8 * element_bytes(type));
  const Value high = std::ldexp(Value{1}, is_signed(type) ? bits - 1 : bits) - 1;
  const Value low = is_signed(type) ? -std::ldexp(Value{1}, bits - 1) : Value{0};
  if (v >= high) return high;
  if (v <= low) return low;
  return std::trunc(v);
}

Value wrapped(Element type, Value v) {
  const auto bits = static_cast<unsigned>(8 * element_bytes(type));
  const auto modulus = static_cast<__int128>(1) << bits;
  __int128 r = static_cast<__int128>(v) % modulus;
  if (r < 0) r += modulus;
  if (is_signed(type) && r >= modulus / 2) r -= modulus;
  return static_cast<Value>(r);
}

std::vector<uint64_t> patterns(Element type) {
  std::vector<uint64_t> out;
  Seeded random(static_cast<uint64_t>(type) + 1);
  if (element_bytes(type) <= 2) {
    const uint64_t count = type == Element::Bool ? 2 : 1ull << (8 * element_bytes(type));
    for (uint64_t i = 0; i < count; ++i) out.push_back(i);
    return out;
  }
  const auto push_value = [&](double v) {
    uint64_t bits = 0;
    if (type == Element::F64) {
      std::memcpy(&bits, &v, 8);
    } else {
      const auto f = static_cast<float>(v);
      std::memcpy(&bits, &f, 4);
    }
    out.push_back(bits);
  };
  if (is_float(type)) {
    for (const double sign : {1.0, -1.0}) {
      for (int e = -160; e <= 160; ++e) {
        for (const double m : {1.0, 1.5, 1.0 + 0x1p-8, 1.0 + 0x1p-11, 1.0 + 0x1p-9 + 0x1p-40,
                               2.0 - 0x1p-24, 2.0 - 0x1p-12}) {
          push_value(sign * std::ldexp(m, e));
        }
      }
      for (const double v :
           {0.0, 0.5, 0.999, 127.5, 255.9, 65519.99, 65520.0, 1e300, 5e-324,
            std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        push_value(sign * v);
      }
    }
  } else {
    for (unsigned shift = 0; shift < 64; ++shift) {
      for (const uint64_t near : {~0ull, 0ull, 1ull}) {
        out.push_back((1ull << shift) + near);
        out.push_back(0 - (1ull << shift) + near);
        // A bit far below the first: where a detour over another float would round twice.
        out.push_back((1ull << shift) + (1ull << shift / 2) + near);
        out.push_back((0x101ull << shift >> 1) + near);
      }
    }
  }
  for (int i = 0; i < 4000; ++i) out.push_back(random.next());
  return out;
}

TEST(convert, all_pairs_of_types) {
  for (int f = 0; f < 13; ++f) {
    const auto from = static_cast<Element>(f);
    const std::vector<uint64_t> bits = patterns(from);
    const size_t size = element_bytes(from);
    std::vector<unsigned char> x(bits.size() * size);
    for (size_t i = 0; i < bits.size(); ++i) std::memcpy(&x[i * size], &bits[i], size);
    for (int t = 0; t < 13; ++t) {
      const auto to = static_cast<Element>(t);
      const size_t to_size = element_bytes(to);
      std::vector<unsigned char> y(bits.size() * to_size);
      convert(from, x.data(), to, y.data(), static_cast<int64_t>(bits.size()));
      for (size_t i = 0; i < bits.size(); ++i) {
        const Value v = read_element(from, &x[i * size]);
        const Value got = read_element(to, &y[i * to_size]);
        bool right = false;
        if (from == to) {
          right = std::memcmp(&x[i * size], &y[i * size], size) == 0;
        } else if (to == Element::Bool) {
          right = got == (v != 0 ? 1 : 0);
        } else if (to == Element::F16 || to == Element::BF16) {
          uint16_t h;
          std::memcpy(&h, &y[i * 2], 2);
          right = is_nearest(to, h, v);
        } else if (is_float(to)) {
          const Value exact =
              to == Element::F32 ? Value{static_cast<float>(v)} : Value{static_cast<double>(v)};
          right = std::isnan(v) ? std::isnan(got)
                                : got == exact && std::signbit(got) == std::signbit(exact);
        } else {
          right = got == (is_float(from) ? saturated(to, v) : wrapped(to, v));
        }
        ASSERT_TRUE(right) << "type " << f << " to " << t << ", " << v << " gives " << got;
      }
    }
  }
}

}  // namespace
}  // namespace capra::kernels
