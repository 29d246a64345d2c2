// Reductions against the contract's order in plain loops, for every type, instruction set and
// choice of axes; and against exact sums.
#include "capra/targets/cpu/kernels/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "capra/base/half.h"
#include "capra/targets/cpu/kernels/kernel_table.h"
#include "tests/targets/cpu/kernels/strided_case.h"

namespace capra::kernels {
namespace {

template <class V>
V wrap_add(V a, V b) {
  if constexpr (std::is_integral_v<V>) {
    return static_cast<V>(static_cast<__int128>(a) + static_cast<__int128>(b));
  } else {
    return a + b;
  }
}

template <class V>
V ordered_sum(const std::vector<V>& x) {
  V p[16] = {};
  for (size_t i = 0; i < x.size(); ++i) p[i % 16] = wrap_add(p[i % 16], x[i]);
  for (int j = 0; j < 8; ++j) p[j] = wrap_add(p[j], p[j + 8]);
  for (int j = 0; j < 4; ++j) p[j] = wrap_add(p[j], p[j + 4]);
  for (int j = 0; j < 2; ++j) p[j] = wrap_add(p[j], p[j + 2]);
  return wrap_add(p[0], p[1]);
}

template <class V>
bool is_nan(V v) {
  if constexpr (std::is_floating_point_v<V>) return std::isnan(v);
  return false;
}

template <class V>
V ordered_reduce(ReduceOp op, const std::vector<V>& x) {
  const V n = static_cast<V>(x.size());
  switch (op) {
    case ReduceOp::Sum:
      return ordered_sum(x);
    case ReduceOp::Mean:
      return ordered_sum(x) / n;
    case ReduceOp::Variance: {
      const V mean = ordered_sum(x) / n;
      std::vector<V> squares;
      for (const V v : x) {
        const V d = v - mean;
        squares.push_back(d * d);
      }
      return ordered_sum(squares) / n;
    }
    default:
      break;
  }
  // The greatest by a search for an element that no other one beats.
  for (const V v : x) {
    if (is_nan(v)) return v;
  }
  for (const V v : x) {
    bool best = true;
    for (const V w : x) {
      if (!best) break;
      if (w > v) best = false;
      if constexpr (std::is_floating_point_v<V>) {
        if (w == v && !std::signbit(w) && std::signbit(v)) best = false;
      }
    }
    if (best) return v;
  }
  using L = std::numeric_limits<V>;
  return L::has_infinity ? -L::infinity() : L::lowest();
}

template <class V>
int64_t first_greatest(const std::vector<V>& x) {
  for (size_t i = 0; i < x.size(); ++i) {
    if (is_nan(x[i])) return static_cast<int64_t>(i);
  }
  size_t best = 0;
  for (size_t i = 1; i < x.size(); ++i) {
    if (x[i] > x[best]) best = i;
  }
  return static_cast<int64_t>(best);
}

template <class S, class V, class Widen, class Narrow>
void check_type(Element type, Widen widen, Narrow narrow) {
  Seeded random(static_cast<uint64_t>(type) + 77);
  for (int round = 0; round < 60; ++round) {
    const StridedCase shape(random, 1);
    std::vector<S> x(static_cast<size_t>(shape.extent[0]));
    const uint64_t special = random.next() % 4;
    for (S& s : x) {
      const uint64_t bits = random.next();
      if (type == Element::Bool) {
        s = static_cast<S>(bits & 1u);
      } else if (std::is_integral_v<V>) {
        std::memcpy(&s, &bits, sizeof(S));
      } else {
        s = narrow(static_cast<V>(random.wild()));
        if (special == 0 && bits % 64 == 0) s = narrow(std::numeric_limits<V>::quiet_NaN());
        if (special == 1 && bits % 8 == 0) s = narrow(std::numeric_limits<V>::infinity());
      }
    }
    const auto axes = static_cast<uint32_t>(random.next() & 63u);
    // The output and the reduced part, each in row-major order.
    std::vector<int> kept;
    std::vector<int> gone;
    for (int d = 0; d < shape.rank; ++d) ((axes >> d & 1u) != 0 ? gone : kept).push_back(d);
    const auto places = [&](const std::vector<int>& which) {
      std::vector<int64_t> at = {0};
      for (const int d : which) {
        std::vector<int64_t> next;
        for (const int64_t a : at) {
          for (int64_t i = 0; i < shape.dims[static_cast<size_t>(d)]; ++i) {
            next.push_back(a + i * shape.strides[0][static_cast<size_t>(d)]);
          }
        }
        at = next;
      }
      return at;
    };
    const std::vector<int64_t> outputs = places(kept);
    const std::vector<int64_t> elements = places(gone);
    StridedCase cut = shape;
    cut.elements = static_cast<int64_t>(outputs.size());
    for (const KernelTable* table : available_kernel_tables()) {
      for (int o = 0; o <= static_cast<int>(ReduceOp::Argmax); ++o) {
        const auto op = static_cast<ReduceOp>(o);
        if (!reduce_supports(op, type)) continue;
        std::vector<S> y(outputs.size());
        std::vector<int64_t> index(outputs.size());
        void* out = op == ReduceOp::Argmax ? static_cast<void*>(index.data()) : y.data();
        for (const Range piece : cut.pieces(random)) {
          reduce(*table, op, type, {x.data() + shape.base[0], shape.strides[0].data()}, shape.rank,
                 shape.dims.data(), axes, out, piece);
        }
        for (size_t i = 0; i < outputs.size(); ++i) {
          std::vector<V> reduced;
          for (const int64_t e : elements) {
            reduced.push_back(widen(x[static_cast<size_t>(shape.base[0] + outputs[i] + e)]));
          }
          if (op == ReduceOp::Argmax) {
            ASSERT_EQ(index[i], first_greatest(reduced)) << static_cast<int>(type);
            continue;
          }
          const V expected = widen(narrow(ordered_reduce(op, reduced)));
          const V got = widen(y[i]);
          ASSERT_TRUE(std::memcmp(&got, &expected, sizeof(V)) == 0 ||
                      (is_nan(got) && is_nan(expected)))
              << isa_name(table->isa) << " type " << static_cast<int>(type) << " op " << o << ": "
              << +got << " for " << +expected;
        }
      }
    }
  }
}

template <class T>
void check_plain(Element type) {
  check_type<T, T>(type, [](T x) { return x; }, [](T x) { return x; });
}

TEST(reduce, order_f32) { check_plain<float>(Element::F32); }
TEST(reduce, order_f64) { check_plain<double>(Element::F64); }
TEST(reduce, order_f16) { check_type<uint16_t, float>(Element::F16, f16_to_f32, f32_to_f16); }
TEST(reduce, order_bf16) { check_type<uint16_t, float>(Element::BF16, bf16_to_f32, f32_to_bf16); }
TEST(reduce, integers_wrap) {
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

TEST(reduce, contiguous_rows_of_every_length) {
  Seeded random(3);
  for (const KernelTable* table : available_kernel_tables()) {
    for (int64_t n = 0; n <= 100; ++n) {
      const std::vector<float> x = random.wilds(static_cast<size_t>(n));
      const std::vector<int64_t> dims = {n};
      const std::vector<int64_t> strides = {1};
      for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Max, ReduceOp::Mean, ReduceOp::Variance}) {
        float y = 0;
        reduce(*table, op, Element::F32, {x.data(), strides.data()}, 1, dims.data(), 1, &y, {0, 1});
        const float expected = ordered_reduce(op, x);
        ASSERT_TRUE(same_bits(y, expected)) << n << " " << static_cast<int>(op);
      }
    }
  }
}

TEST(reduce, an_order_that_matters_is_kept) {
  // 2^24 and sixteen ones: each partial but the first is 2, and 2^24 + 1 rounds back to 2^24.
  std::vector<float> x(32, 1.0f);
  x[0] = 0x1p24f;
  const std::vector<int64_t> dims = {32};
  const std::vector<int64_t> strides = {1};
  for (const KernelTable* table : available_kernel_tables()) {
    float y = 0;
    reduce(*table, ReduceOp::Sum, Element::F32, {x.data(), strides.data()}, 1, dims.data(), 1, &y,
           {0, 1});
    EXPECT_EQ(y, 0x1p24f + 30.0f);
  }
}

}  // namespace
}  // namespace capra::kernels
