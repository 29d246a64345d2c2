// Elementwise kernels: every instruction set has the bits of the one-lane functions, and the
// strided walks do what plain index arithmetic does, for every type, in one piece or in many.
#include "capra/targets/cpu/kernels/elementwise.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "capra/base/half.h"
#include "capra/targets/cpu/kernels/kernel_table.h"
#include "capra/targets/cpu/kernels/math.h"
#include "tests/targets/cpu/kernels/strided_case.h"

namespace capra::kernels {
namespace {

namespace one_lane = capra::kernels::HWY_NAMESPACE;
using One = one_lane::F32x1;

bool same(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

float one_lane_unary(UnaryOp op, float x) {
  const One v{x};
  switch (op) {
    case UnaryOp::Neg:
      return neg(v).value;
    case UnaryOp::Abs:
      return abs(v).value;
    case UnaryOp::Exp:
      return exp(v).value;
    case UnaryOp::Log:
      return log(v).value;
    case UnaryOp::Sqrt:
      return std::sqrt(x);
    case UnaryOp::Rsqrt:
      return 1.0f / std::sqrt(x);
    case UnaryOp::Tanh:
      return tanh(v).value;
    case UnaryOp::Erf:
      return erf(v).value;
    case UnaryOp::Erfc:
      return erfc(v).value;
    case UnaryOp::GeluExact:
      return gelu_exact(v).value;
    case UnaryOp::GeluTanh:
      return gelu_tanh(v).value;
    case UnaryOp::Sigmoid:
      return sigmoid(v).value;
    case UnaryOp::Silu:
      return silu(v).value;
    case UnaryOp::Relu:
      return std::isnan(x) ? x : x > 0 ? x : 0.0f;
    case UnaryOp::Not:
      break;
  }
  return 0;
}

// Special values, every power of two with its neighbours, and a stride over all bit patterns.
std::vector<float> interesting_floats() {
  std::vector<float> x;
  for (uint32_t exponent = 0; exponent <= 255; ++exponent) {
    for (const uint32_t fraction : {0u, 1u, 0x400000u, 0x7fffffu}) {
      for (const uint32_t sign : {0u, 0x80000000u}) {
        x.push_back(std::bit_cast<float>(sign | exponent << 23 | fraction));
      }
    }
  }
  for (const float edge : {0.5f, 0.65f, 1.0f, 4.0f, 10.0f, 10.4f, 11.0f, 14.5f, 88.7f, 89.0f,
                           104.0f, 112.0f, 87.33654f, 103.97208f}) {
    for (const float near : {std::nextafter(edge, 0.0f), edge, std::nextafter(edge, 1e9f)}) {
      x.push_back(near);
      x.push_back(-near);
    }
  }
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 300007) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  return x;
}

TEST(elementwise, every_table_has_the_bits_of_one_lane) {
  const std::vector<float> x = interesting_floats();
  const auto n = static_cast<int64_t>(x.size());
  for (int o = 0; o <= static_cast<int>(UnaryOp::Relu); ++o) {
    const auto op = static_cast<UnaryOp>(o);
    if (!unary_supports(op, Element::F32)) continue;
    std::vector<float> expected(x.size());
    for (size_t i = 0; i < x.size(); ++i) expected[i] = one_lane_unary(op, x[i]);
    for (const KernelTable* table : available_kernel_tables()) {
      std::vector<float> y(x.size());
      table->elementwise.unary_f32(op, x.data(), y.data(), n);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_TRUE(same(y[i], expected[i])) << isa_name(table->isa) << " op " << o << " of "
                                             << x[i] << ": " << y[i] << " for " << expected[i];
      }
    }
  }
}

TEST(elementwise, exp_nonpositive_is_exp) {
  for (const float x : interesting_floats()) {
    if (x > 0) continue;
    ASSERT_TRUE(same(exp_nonpositive(One{x}).value, exp(One{x}).value)) << x;
  }
}

TEST(elementwise, tails_are_lanes_and_nothing_else_is_written) {
  std::vector<float> x(64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.37f * static_cast<float>(i) - 9.0f;
  for (const KernelTable* table : available_kernel_tables()) {
    for (const UnaryOp op : {UnaryOp::GeluExact, UnaryOp::Exp, UnaryOp::Neg}) {
      for (int64_t n = 0; n <= 40; ++n) {
        std::vector<float> y(64, 77.0f);
        table->elementwise.unary_f32(op, x.data(), y.data(), n);
        for (int64_t i = 0; i < 64; ++i) {
          ASSERT_TRUE(same(y[i], i < n ? one_lane_unary(op, x[i]) : 77.0f)) << n << " " << i;
        }
        table->elementwise.binary_f32(BinaryOp::Mul, x.data(), 1, x.data() + 3, 0, y.data(), n);
        for (int64_t i = 0; i < 64; ++i) {
          ASSERT_TRUE(same(y[i], i < n ? x[i] * x[3] : 77.0f)) << n << " " << i;
        }
      }
    }
  }
}

// What an op means for a type, in the plainest words. Min and Max by the definition: any NaN gives
// NaN, -0 < +0.
template <class T>
T plain_binary(BinaryOp op, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (op) {
      case BinaryOp::Add:
        return a + b;
      case BinaryOp::Sub:
        return a - b;
      case BinaryOp::Mul:
        return a * b;
      case BinaryOp::Div:
        return a / b;
      case BinaryOp::Min:
      case BinaryOp::Max: {
        if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
        const bool a_less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
        return (op == BinaryOp::Min) == a_less ? a : b;
      }
      default:
        return 0;
    }
  } else {
    const auto wide_a = static_cast<__int128>(a);
    const auto wide_b = static_cast<__int128>(b);
    switch (op) {
      case BinaryOp::Add:
        return static_cast<T>(wide_a + wide_b);
      case BinaryOp::Sub:
        return static_cast<T>(wide_a - wide_b);
      case BinaryOp::Mul:
        return static_cast<T>(static_cast<unsigned __int128>(wide_a) *
                              static_cast<unsigned __int128>(wide_b));
      case BinaryOp::Div:
        return b == 0 ? T{0} : static_cast<T>(wide_a / wide_b);
      case BinaryOp::Min:
        return wide_a < wide_b ? a : b;
      case BinaryOp::Max:
        return wide_a > wide_b ? a : b;
      case BinaryOp::And:
        return static_cast<T>(wide_a & wide_b);
      case BinaryOp::Or:
        return static_cast<T>(wide_a | wide_b);
    }
    return 0;
  }
}

template <class T>
bool plain_compare(CompareOp op, T a, T b) {
  switch (op) {
    case CompareOp::Eq:
      return a == b;
    case CompareOp::Ne:
      return a != b;
    case CompareOp::Lt:
      return a < b;
    case CompareOp::Le:
      return a <= b;
    case CompareOp::Gt:
      return a > b;
    case CompareOp::Ge:
      return a >= b;
  }
  return false;
}

// A type as it is stored, and as arithmetic sees it.
template <class S, class V, class Widen, class Narrow>
void check_type(Element type, Widen widen, Narrow narrow) {
  Seeded random(static_cast<uint64_t>(type) + 5);
  for (int round = 0; round < 40; ++round) {
    const StridedCase shape(random, 2);
    std::vector<S> a(static_cast<size_t>(shape.extent[0]));
    std::vector<S> b(static_cast<size_t>(shape.extent[1]));
    for (auto* v : {&a, &b}) {
      for (S& s : *v) {
        const uint64_t bits = random.next();
        if (type == Element::Bool) {
          s = static_cast<S>(bits & 1u);
        } else if (bits % 4 == 0 || sizeof(S) == 1) {
          std::memcpy(&s, &bits, sizeof(S));
        } else {
          s = narrow(static_cast<V>(static_cast<int>(bits >> 8 & 15u) - 7));
        }
      }
    }
    const auto n = static_cast<size_t>(shape.elements);
    const Strided operand_a{a.data() + shape.base[0], shape.strides[0].data()};
    const Strided operand_b{b.data() + shape.base[1], shape.strides[1].data()};
    for (const KernelTable* table : available_kernel_tables()) {
      for (int o = 0; o <= static_cast<int>(BinaryOp::Or); ++o) {
        const auto op = static_cast<BinaryOp>(o);
        if (!binary_supports(op, type)) continue;
        std::vector<S> y(n);
        for (const Range piece : shape.pieces(random)) {
          binary(*table, op, type, operand_a, operand_b, y.data(), shape.rank, shape.dims.data(),
                 piece);
        }
        for (size_t i = 0; i < n; ++i) {
          const V u = widen(a[static_cast<size_t>(shape.at(0, static_cast<int64_t>(i)))]);
          const V v = widen(b[static_cast<size_t>(shape.at(1, static_cast<int64_t>(i)))]);
          const V expected = widen(narrow(plain_binary(op, u, v)));
          const V got = widen(y[i]);
          ASSERT_TRUE(std::memcmp(&got, &expected, sizeof(V)) == 0 ||
                      (got != got && expected != expected))
              << "type " << static_cast<int>(type) << " op " << o << " of " << +u << ", " << +v
              << ": " << +got;
        }
      }
      for (int o = 0; o <= static_cast<int>(CompareOp::Ge); ++o) {
        const auto op = static_cast<CompareOp>(o);
        std::vector<uint8_t> y(n, 9);
        for (const Range piece : shape.pieces(random)) {
          compare(*table, op, type, operand_a, operand_b, y.data(), shape.rank, shape.dims.data(),
                  piece);
        }
        for (size_t i = 0; i < n; ++i) {
          const V u = widen(a[static_cast<size_t>(shape.at(0, static_cast<int64_t>(i)))]);
          const V v = widen(b[static_cast<size_t>(shape.at(1, static_cast<int64_t>(i)))]);
          ASSERT_EQ(y[i], plain_compare(op, u, v) ? 1 : 0) << static_cast<int>(type) << " " << o;
        }
      }
    }
  }
}

template <class T>
void check_plain(Element type) {
  check_type<T, T>(type, [](T x) { return x; }, [](T x) { return x; });
}

TEST(elementwise, binary_and_compare_f32) { check_plain<float>(Element::F32); }
TEST(elementwise, binary_and_compare_f64) { check_plain<double>(Element::F64); }
TEST(elementwise, binary_and_compare_f16) {
  check_type<uint16_t, float>(Element::F16, f16_to_f32, f32_to_f16);
}
TEST(elementwise, binary_and_compare_bf16) {
  check_type<uint16_t, float>(Element::BF16, bf16_to_f32, f32_to_bf16);
}
TEST(elementwise, binary_and_compare_integers) {
  check_plain<int64_t>(Element::I64);
  check_plain<int32_t>(Element::I32);
  check_plain<int16_t>(Element::I16);
  check_plain<int8_t>(Element::I8);
  check_plain<uint64_t>(Element::U64);
  check_plain<uint32_t>(Element::U32);
  check_plain<uint16_t>(Element::U16);
  check_plain<uint8_t>(Element::U8);
  check_plain<uint8_t>(Element::Bool);
}

template <class T>
void check_select(Element type) {
  Seeded random(99);
  for (int round = 0; round < 30; ++round) {
    const StridedCase shape(random, 3);
    std::vector<uint8_t> condition(static_cast<size_t>(shape.extent[0]));
    for (uint8_t& c : condition) c = static_cast<uint8_t>(random.next() & 1u);
    std::vector<T> a(static_cast<size_t>(shape.extent[1]));
    std::vector<T> b(static_cast<size_t>(shape.extent[2]));
    for (auto* v : {&a, &b}) {
      for (T& x : *v) x = static_cast<T>(random.next());
    }
    std::vector<T> y(static_cast<size_t>(shape.elements));
    for (const Range piece : shape.pieces(random)) {
      select(kernels(), type, {condition.data() + shape.base[0], shape.strides[0].data()},
             {a.data() + shape.base[1], shape.strides[1].data()},
             {b.data() + shape.base[2], shape.strides[2].data()}, y.data(), shape.rank,
             shape.dims.data(), piece);
    }
    for (int64_t i = 0; i < shape.elements; ++i) {
      const bool c = condition[static_cast<size_t>(shape.at(0, i))] != 0;
      ASSERT_EQ(y[static_cast<size_t>(i)], c ? a[static_cast<size_t>(shape.at(1, i))]
                                             : b[static_cast<size_t>(shape.at(2, i))]);
    }
  }
}
TEST(elementwise, select_copies_bits) {
  check_select<uint64_t>(Element::F64);
  check_select<uint32_t>(Element::F32);
  check_select<uint16_t>(Element::BF16);
  check_select<uint8_t>(Element::Bool);
}

TEST(elementwise, unary_on_integers_wraps) {
  const std::vector<int8_t> x = {-128, -1, 0, 1, 127};
  std::vector<int8_t> y(5);
  const auto run = [&](UnaryOp op) {
    unary(kernels(), op, Element::I8, x.data(), y.data(), 5);
    return y;
  };
  EXPECT_EQ(run(UnaryOp::Neg), (std::vector<int8_t>{-128, 1, 0, -1, -127}));
  EXPECT_EQ(run(UnaryOp::Abs), (std::vector<int8_t>{-128, 1, 0, 1, 127}));
  EXPECT_EQ(run(UnaryOp::Not), (std::vector<int8_t>{127, 0, -1, -2, -128}));
  EXPECT_EQ(run(UnaryOp::Relu), (std::vector<int8_t>{0, 0, 0, 1, 127}));
  const std::vector<uint32_t> u = {0, 1, 0xffffffffu};
  std::vector<uint32_t> v(3);
  unary(kernels(), UnaryOp::Neg, Element::U32, u.data(), v.data(), 3);
  EXPECT_EQ(v, (std::vector<uint32_t>{0, 0xffffffffu, 1}));
  const std::vector<uint8_t> flags = {0, 1};
  std::vector<uint8_t> inverse(2);
  unary(kernels(), UnaryOp::Not, Element::Bool, flags.data(), inverse.data(), 2);
  EXPECT_EQ(inverse, (std::vector<uint8_t>{1, 0}));
}

}  // namespace
}  // namespace capra::kernels
