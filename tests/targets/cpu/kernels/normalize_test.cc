// Softmax, the norms and pooling: bit-equal on every instruction set to the contract's order in
// plain loops, and near the real functions as long double has them.
#include "capra/targets/cpu/kernels/normalize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "capra/base/half.h"
#include "capra/targets/cpu/kernels/elementwise.h"
#include "capra/targets/cpu/kernels/kernel_table.h"
#include "tests/targets/cpu/kernels/kernel_reference.h"

namespace capra::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class V>
V ordered_sum(const std::vector<V>& x) {
  V p[16] = {};
  for (size_t i = 0; i < x.size(); ++i) p[i % 16] += x[i];
  for (const int half : {8, 4, 2, 1}) {
    for (int j = 0; j < half; ++j) p[j] += p[j + half];
  }
  return p[0];
}

// exp of the contract: tests/targets/cpu/kernels/math_test.cc judges it.
template <class V>
V contract_exp(V x) {
  unary(kernels(), UnaryOp::Exp, sizeof(V) == 8 ? Element::F64 : Element::F32, &x, &x, 1);
  return x;
}

template <class V>
std::vector<V> ordered_softmax(const std::vector<V>& x) {
  V m = -std::numeric_limits<V>::infinity();
  bool nan = false;
  for (const V v : x) {
    nan = nan || std::isnan(v);
    m = std::max(m, v);
  }
  if (nan) return std::vector<V>(x.size(), std::numeric_limits<V>::quiet_NaN());
  if (m == -std::numeric_limits<V>::infinity()) return std::vector<V>(x.size(), 0);
  std::vector<V> e;
  for (const V v : x) e.push_back(contract_exp(v - m));
  const V s = ordered_sum(e);
  for (V& v : e) v = v / s;
  return e;
}

struct Norm {
  double m;
  double r;
};
Norm ordered_norm(const std::vector<double>& x, double eps) {
  const auto n = static_cast<double>(x.size());
  const double m = ordered_sum(x) / n;
  std::vector<double> squares;
  for (const double v : x) squares.push_back((v - m) * (v - m));
  return {m, 1.0 / std::sqrt(ordered_sum(squares) / n + eps)};
}

double ordered_square_sum(const std::vector<double>& x) {
  std::vector<double> squares;
  for (const double v : x) squares.push_back(v * v);
  return ordered_sum(squares);
}

std::vector<double> widened(const float* x, int64_t n) { return {x, x + n}; }

std::vector<int64_t> lengths() {
  std::vector<int64_t> n;
  for (int64_t i = 1; i <= 66; ++i) n.push_back(i);
  for (const int64_t i : {127, 128, 200, 384, 513}) n.push_back(i);
  return n;
}

TEST(normalize, softmax_rows_f32) {
  Seeded random(1);
  for (const int64_t n : lengths()) {
    const auto count = static_cast<size_t>(n);
    std::vector<std::vector<float>> rows;
    for (const float scale : {1.0f, 30.0f, 1e4f}) {
      std::vector<float> row = random.units(count);
      for (float& v : row) v *= scale;
      rows.push_back(row);
      row[random.next() % count] = -kInf;
      rows.push_back(row);
      row[random.next() % count] = kNan;
      rows.push_back(row);
    }
    rows.push_back(std::vector<float>(count, -kInf));
    rows.push_back(std::vector<float>(count, 0.0f));
    rows.push_back(std::vector<float>(count, -kInf));
    rows.back()[count / 2] = kNan;
    rows.push_back(random.units(count));
    rows.back()[count / 3] = kInf;
    for (const KernelTable* table : available_kernel_tables()) {
      for (const std::vector<float>& row : rows) {
        std::vector<float> y(count + 1, 7.0f);
        softmax_rows(*table, Element::F32, row.data(), y.data(), 1, n);
        const std::vector<float> expected = ordered_softmax(row);
        for (size_t i = 0; i < count; ++i) {
          ASSERT_TRUE(same_bits(y[i], expected[i]))
              << isa_name(table->isa) << " n " << n << ": " << y[i] << " for " << expected[i];
        }
        EXPECT_EQ(y[count], 7.0f);
        std::vector<float> in_place = row;
        softmax_rows(*table, Element::F32, in_place.data(), in_place.data(), 1, n);
        for (size_t i = 0; i < count; ++i) ASSERT_TRUE(same_bits(in_place[i], expected[i]));
      }
    }
  }
}

TEST(normalize, softmax_is_near_the_real_function) {
  Seeded random(2);
  double worst = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<float> x = random.units(300);
    for (float& v : x) v *= 12.0f;
    std::vector<float> y(300);
    softmax_rows(kernels(), Element::F32, x.data(), y.data(), 1, 300);
    long double sum = 0;
    for (const float v : x) sum += std::exp(static_cast<long double>(v));
    for (size_t i = 0; i < 300; ++i) {
      const long double exact = std::exp(static_cast<long double>(x[i])) / sum;
      worst = std::max(worst, static_cast<double>(std::fabs(y[i] - exact) / exact));
    }
  }
  EXPECT_LT(worst,
            2.5e-6);  // x - m is off by up to half an ulp of 24, 9.5e-7; twice that, and the sum
  EXPECT_GT(worst, 1e-9);
}

TEST(normalize, layer_norm_f32) {
  Seeded random(3);
  for (const int64_t n : lengths()) {
    const auto count = static_cast<size_t>(n);
    const std::vector<float> x = random.units(2 * count);
    const std::vector<float> residual = random.wilds(2 * count);
    const std::vector<float> gamma = random.units(count);
    const std::vector<float> beta = random.units(count);
    const double eps = 1e-12;
    for (const KernelTable* table : available_kernel_tables()) {
      for (int form = 0; form < 8; ++form) {
        const float* g = (form & 1) != 0 ? gamma.data() : nullptr;
        const float* b = (form & 2) != 0 ? beta.data() : nullptr;
        const float* add = (form & 4) != 0 ? residual.data() : nullptr;
        std::vector<float> y(2 * count);
        layer_norm_rows(*table, Element::F32, x.data(), add, g, b, eps, y.data(), 2, n);
        for (size_t row = 0; row < 2; ++row) {
          std::vector<float> in(x.begin() + static_cast<ptrdiff_t>(row * count),
                                x.begin() + static_cast<ptrdiff_t>((row + 1) * count));
          if (add != nullptr) {
            for (size_t i = 0; i < count; ++i) in[i] = in[i] + residual[row * count + i];
          }
          const std::vector<double> wide = widened(in.data(), n);
          const Norm norm = ordered_norm(wide, eps);
          for (size_t i = 0; i < count; ++i) {
            double v = (wide[i] - norm.m) * norm.r;
            if (g != nullptr) v = v * static_cast<double>(gamma[i]);
            if (b != nullptr) v = v + static_cast<double>(beta[i]);
            const size_t at = row * count + i;
            ASSERT_TRUE(same_bits(y[at], static_cast<float>(v)))
                << isa_name(table->isa) << " n " << n << " form " << form;
          }
        }
      }
    }
  }
}

TEST(normalize, layer_norm_is_the_real_function_rounded) {
  // Rows with a large mean, where f32 statistics would fail.
  Seeded random(4);
  for (int round = 0; round < 30; ++round) {
    std::vector<float> x = random.units(384);
    for (float& v : x) v += 1000.0f;
    std::vector<float> y(384);
    layer_norm_rows(kernels(), Element::F32, x.data(), nullptr, nullptr, nullptr, 1e-12, y.data(),
                    1, 384);
    long double sum = 0;
    for (const float v : x) sum += v;
    const long double m = sum / 384;
    long double squares = 0;
    for (const float v : x) squares += (v - m) * (v - m);
    const long double r = 1 / std::sqrt(squares / 384 + 1e-12L);
    for (size_t i = 0; i < 384; ++i) {
      const long double exact = (x[i] - m) * r;
      const float ulp = std::nextafter(std::fabs(y[i]), kInf) - std::fabs(y[i]);
      ASSERT_LE(std::fabs(y[i] - exact), (0.5L + 1e-4L) * ulp) << i;
    }
  }
}

TEST(normalize, l2_in_double) {
  Seeded random(5);
  for (const int64_t n : lengths()) {
    const std::vector<double> units = random.units<double>(static_cast<size_t>(n));
    for (const double scale : {1.0, 0.0, 1e-15}) {
      std::vector<double> x = units;
      for (double& v : x) v *= scale;
      const double length = std::max(std::sqrt(ordered_square_sum(x)), 1e-12);
      std::vector<double> y(x.size() + 1, 7.0);
      l2_normalize(x.data(), y.data(), n);
      for (size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(same_bits(y[i], x[i] / length)) << n;
      EXPECT_EQ(y.back(), 7.0);
      std::vector<double> in_place = x;
      l2_normalize(in_place.data(), in_place.data(), n);
      for (size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(same_bits(in_place[i], y[i])) << n;
    }
  }
  std::vector<double> x = {1.0, std::numeric_limits<double>::quiet_NaN(), 2.0};
  l2_normalize(x.data(), x.data(), 3);
  for (const double v : x) EXPECT_TRUE(std::isnan(v));
}

TEST(normalize, double_to_f32_rounds_once) {
  Seeded random(9);
  for (const int64_t n : lengths()) {
    const auto count = static_cast<size_t>(n);
    std::vector<double> x = random.units<double>(count);
    for (double& v : x) v = v * (1 + 0x1p-27) + 0x1p-40;
    for (const KernelTable* table : available_kernel_tables()) {
      std::vector<float> y(count + 1, 7.0f);
      round_to_f32(*table, x.data(), y.data(), n);
      for (size_t i = 0; i < count; ++i) ASSERT_TRUE(same_bits(y[i], static_cast<float>(x[i])));
      EXPECT_EQ(y[count], 7.0f);
    }
  }
}

// The other float types: the same order in f64; f16 and bf16 widened and rounded once.
template <class S, class V, class Widen, class Narrow>
void check_portable(Element type, Widen widen, Narrow narrow) {
  Seeded random(6);
  for (const int64_t n : {1, 7, 16, 33, 100}) {
    const auto count = static_cast<size_t>(n);
    std::vector<S> x;
    std::vector<S> other;
    std::vector<S> gamma;
    std::vector<S> beta;
    for (auto* v : {&x, &other, &gamma, &beta}) {
      for (size_t i = 0; i < count; ++i) v->push_back(narrow(static_cast<V>(random.unit())));
    }
    std::vector<S> y(count);
    std::vector<V> values;
    for (const S s : x) values.push_back(widen(s));

    softmax_rows(kernels(), type, x.data(), y.data(), 1, n);
    const std::vector<V> soft = ordered_softmax(values);
    for (size_t i = 0; i < count; ++i) ASSERT_TRUE(same_bits(widen(y[i]), widen(narrow(soft[i]))));

    layer_norm_rows(kernels(), type, x.data(), other.data(), gamma.data(), beta.data(), 1e-5,
                    y.data(), 1, n);
    std::vector<double> sum;
    for (size_t i = 0; i < count; ++i) {
      sum.push_back(static_cast<double>(widen(narrow(values[i] + widen(other[i])))));
    }
    const Norm norm = ordered_norm(sum, 1e-5);
    for (size_t i = 0; i < count; ++i) {
      double v = (sum[i] - norm.m) * norm.r;
      v = v * static_cast<double>(widen(gamma[i]));
      v = v + static_cast<double>(widen(beta[i]));
      const S expected = [&] {
        if constexpr (std::is_same_v<S, double>) return v;
        if constexpr (!std::is_same_v<S, double>) {
          return type == Element::F16 ? f64_to_f16(v) : f64_to_bf16(v);
        }
      }();
      ASSERT_TRUE(same_bits(widen(y[i]), widen(expected)));
    }
  }
}
TEST(normalize, f64_keeps_the_order) {
  check_portable<double, double>(
      Element::F64, [](double x) { return x; }, [](double x) { return x; });
}
TEST(normalize, f16_rounds_once) {
  check_portable<uint16_t, float>(Element::F16, f16_to_f32, f32_to_f16);
}
TEST(normalize, bf16_rounds_once) {
  check_portable<uint16_t, float>(Element::BF16, bf16_to_f32, f32_to_bf16);
}

TEST(normalize, embedding_sum_and_norm) {
  Seeded random(7);
  constexpr int64_t kN = 50;
  const std::vector<float> word = random.wilds(20 * kN);
  const std::vector<float> position = random.wilds(10 * kN);
  const std::vector<float> type = random.wilds(2 * kN);
  const std::vector<float> gamma = random.units(kN);
  const std::vector<float> beta = random.units(kN);
  const std::vector<int64_t> ids = {3, 19, 0, 3, 7};
  const std::vector<int64_t> positions = {0, 1, 2, 0, 1};
  const std::vector<int64_t> types = {0, 0, 1, 1, 0};
  for (const KernelTable* table : available_kernel_tables()) {
    for (int form = 0; form < 4; ++form) {
      EmbeddingNorm e{word.data(),  position.data(), type.data(), ids.data(), positions.data(),
                      types.data(), gamma.data(),    beta.data(), 1e-12};
      if (form == 1) e.type_ids = nullptr;
      if (form == 2) e.positions = nullptr;
      if (form == 3) e.position = e.type = nullptr;
      std::vector<float> y(5 * kN);
      embedding_norm(*table, e, y.data(), kN, {0, 2});
      embedding_norm(*table, e, y.data(), kN, {2, 5});
      for (size_t t = 0; t < 5; ++t) {
        std::vector<double> sum;
        for (int64_t i = 0; i < kN; ++i) {
          float v = word[static_cast<size_t>(ids[t] * kN + i)];
          const int64_t p = form == 2 ? static_cast<int64_t>(t) : positions[t];
          if (form != 3) v = v + position[static_cast<size_t>(p * kN + i)];
          if (form != 3) v = v + type[static_cast<size_t>((form == 1 ? 0 : types[t]) * kN + i)];
          sum.push_back(v);
        }
        const Norm norm = ordered_norm(sum, 1e-12);
        for (size_t i = 0; i < kN; ++i) {
          double v = (sum[i] - norm.m) * norm.r;
          v = v * static_cast<double>(gamma[i]);
          v = v + static_cast<double>(beta[i]);
          ASSERT_TRUE(same_bits(y[t * kN + i], static_cast<float>(v)));
        }
      }
    }
  }
}

TEST(normalize, pooling) {
  Seeded random(8);
  for (const int64_t n : {1, 15, 16, 40}) {
    for (const int64_t tokens : {1, 2, 15, 16, 17, 33, 100}) {
      const auto count = static_cast<size_t>(n);
      const std::vector<float> x = random.wilds(static_cast<size_t>(tokens) * count);
      const auto t = static_cast<double>(tokens);
      for (size_t column = 0; column < count; ++column) {
        std::vector<double> plain;
        std::vector<double> weighted;
        double most = -std::numeric_limits<double>::infinity();
        for (int64_t k = 0; k < tokens; ++k) {
          const double v = x[static_cast<size_t>(k) * count + column];
          plain.push_back(v);
          weighted.push_back(v * static_cast<double>(k + 1));
          if (v > most || (v == most && std::signbit(most))) most = v;
        }
        for (const KernelTable* table : available_kernel_tables()) {
          std::vector<double> y(count);
          const auto pooled = [&](Pooling kind) {
            pool(*table, kind, x.data(), tokens, n, y.data());
            return y[column];
          };
          ASSERT_TRUE(same_bits(pooled(Pooling::Cls), plain.front()));
          ASSERT_TRUE(same_bits(pooled(Pooling::LastToken), plain.back()));
          ASSERT_TRUE(same_bits(pooled(Pooling::Max), most));
          ASSERT_TRUE(same_bits(pooled(Pooling::Mean), ordered_sum(plain) / t));
          ASSERT_TRUE(same_bits(pooled(Pooling::MeanSqrtLen), ordered_sum(plain) / std::sqrt(t)));
          ASSERT_TRUE(
              same_bits(pooled(Pooling::WeightedMean), ordered_sum(weighted) / (t * (t + 1) / 2)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace capra::kernels
