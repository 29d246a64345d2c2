// Row-wise normalizations and pooling: f32 by the table, the other float types by portable loops in
// the same order.
#include "capra/targets/cpu/kernels/normalize.h"

#include <type_traits>

#include "capra/base/half.h"
#include "capra/targets/cpu/kernels/kernel_table.h"
#include "capra/targets/cpu/kernels/math_f64.h"

namespace capra::kernels {
namespace {

struct Float {
  using Stored = float;
  using Value = float;
  static float load(float x) { return x; }
  static float round(double x) { return static_cast<float>(x); }
};
struct Double {
  using Stored = double;
  using Value = double;
  static double load(double x) { return x; }
  static double round(double x) { return x; }
};
struct Half {
  using Stored = uint16_t;
  using Value = float;
  static float load(uint16_t x) { return f16_to_f32(x); }
  static uint16_t round(double x) { return f64_to_f16(x); }
};
struct Brain {
  using Stored = uint16_t;
  using Value = float;
  static float load(uint16_t x) { return bf16_to_f32(x); }
  static uint16_t round(double x) { return f64_to_bf16(x); }
};

template <class F>
void for_float(Element type, F f) {
  switch (type) {
    case Element::F64:
      return f(Double{});
    case Element::F16:
      return f(Half{});
    case Element::BF16:
      return f(Brain{});
    default:
      return f(Float{});
  }
}

double exp_of(const KernelTable&, double x) { return exp(f64_math::Double{x}).value; }
float exp_of(const KernelTable& table, float x) {
  table.elementwise.unary_f32(UnaryOp::Exp, &x, &x, 1);
  return x;
}

// Sixteen partials, added to in the order of the elements' numbers.
template <class V>
class Partials {
 public:
  void add(int64_t i, V x) { p_[i % 16] += x; }
  V sum() {
    for (int half = 8; half > 0; half /= 2) {
      for (int j = 0; j < half; ++j) p_[j] += p_[j + half];
    }
    return p_[0];
  }

 private:
  V p_[16] = {};
};

template <class E>
void softmax_portable(const KernelTable& table, const typename E::Stored* x, typename E::Stored* y,
                      int64_t n) {
  using V = typename E::Value;
  V m = -static_cast<V>(__builtin_inff());
  V nan = 0;
  for (int64_t i = 0; i < n; ++i) {
    const V v = E::load(x[i]);
    if (v != v) nan = v;
    if (v > m) m = v;
  }
  if (m == -static_cast<V>(__builtin_inff())) {
    for (int64_t i = 0; i < n; ++i) y[i] = E::round(nan);
    return;
  }
  Partials<V> partials;
  for (int64_t i = 0; i < n; ++i) partials.add(i, exp_of(table, E::load(x[i]) - m));
  const V s = partials.sum();
  for (int64_t i = 0; i < n; ++i) y[i] = E::round(exp_of(table, E::load(x[i]) - m) / s);
}

template <class E>
void layer_norm_portable(const typename E::Stored* x, const typename E::Stored* gamma,
                         const typename E::Stored* beta, double eps, typename E::Stored* y,
                         int64_t n) {
  const auto at = [](const typename E::Stored* p, int64_t i) {
    return static_cast<double>(E::load(p[i]));
  };
  const auto count = static_cast<double>(n);
  Partials<double> sums;
  for (int64_t i = 0; i < n; ++i) sums.add(i, at(x, i));
  const double m = sums.sum() / count;
  Partials<double> squares;
  for (int64_t i = 0; i < n; ++i) {
    const double d = at(x, i) - m;
    squares.add(i, d * d);
  }
  const double v = squares.sum() / count;
  const double r = 1.0 / __builtin_sqrt(v + eps);
  for (int64_t i = 0; i < n; ++i) {
    double value = (at(x, i) - m) * r;
    if (gamma != nullptr) value = value * at(gamma, i);
    if (beta != nullptr) value = value + at(beta, i);
    y[i] = E::round(value);
  }
}

}  // namespace

void softmax_rows(const KernelTable& table, Element type, const void* x, void* y, int64_t rows,
                  int64_t n) {
  for_float(type, [&](auto element) {
    using E = decltype(element);
    const auto* from = static_cast<const typename E::Stored*>(x);
    auto* to = static_cast<typename E::Stored*>(y);
    for (int64_t r = 0; r < rows; ++r) {
      if constexpr (std::is_same_v<E, Float>) {
        table.normalize.softmax_row(from + r * n, to + r * n, n);
      } else {
        softmax_portable<E>(table, from + r * n, to + r * n, n);
      }
    }
  });
}

void layer_norm_rows(const KernelTable& table, Element type, const void* x, const void* residual,
                     const void* gamma, const void* beta, double eps, void* y, int64_t rows,
                     int64_t n) {
  for_float(type, [&](auto element) {
    using E = decltype(element);
    using T = typename E::Stored;
    const auto* g = static_cast<const T*>(gamma);
    const auto* b = static_cast<const T*>(beta);
    for (int64_t r = 0; r < rows; ++r) {
      const T* from = static_cast<const T*>(x) + r * n;
      T* to = static_cast<T*>(y) + r * n;
      if (residual != nullptr) {
        const T* other = static_cast<const T*>(residual) + r * n;
        if constexpr (std::is_same_v<E, Float>) {
          table.normalize.add_rows(from, other, to, n);
        } else {
          for (int64_t i = 0; i < n; ++i) to[i] = E::round(E::load(from[i]) + E::load(other[i]));
        }
        from = to;
      }
      if constexpr (std::is_same_v<E, Float>) {
        table.normalize.layer_norm_row(from, g, b, eps, to, n);
      } else {
        layer_norm_portable<E>(from, g, b, eps, to, n);
      }
    }
  });
}

void embedding_norm(const KernelTable& table, const EmbeddingNorm& e, float* y, int64_t n,
                    Range range) {
  const NormalizeKernels& k = table.normalize;
  for (int64_t t = range.begin; t < range.end; ++t) {
    float* row = y + t * n;
    const float* sum = e.word + e.ids[t] * n;
    if (e.position != nullptr) {
      const int64_t position = e.positions != nullptr ? e.positions[t] : t;
      k.add_rows(sum, e.position + position * n, row, n);
      sum = row;
    }
    if (e.type != nullptr) {
      const int64_t type = e.type_ids != nullptr ? e.type_ids[t] : 0;
      k.add_rows(sum, e.type + type * n, row, n);
      sum = row;
    }
    k.layer_norm_row(sum, e.gamma, e.beta, e.eps, row, n);
  }
}

void pool(const KernelTable& table, Pooling kind, const float* x, int64_t tokens, int64_t n,
          double* out) {
  table.normalize.pool(kind, x, tokens, n, out);
}

void round_to_f32(const KernelTable& table, const double* x, float* y, int64_t n) {
  table.normalize.round_to_f32(x, y, n);
}

void l2_normalize(const double* x, double* y, int64_t n) {
  Partials<double> squares;
  for (int64_t i = 0; i < n; ++i) squares.add(i, x[i] * x[i]);
  const double length = __builtin_sqrt(squares.sum());
  const double divisor = length < 1e-12 ? 1e-12 : length;
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / divisor;
}

}  // namespace capra::kernels
