// f32 rows of softmax, the norms and pooling, for every instruction set.
#include "capra/targets/cpu/kernels/normalize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "capra/targets/cpu/kernels/normalize_f32.cc"
// clang-format off
#include "capra/targets/cpu/kernels/foreach_isa.h"
#include "capra/targets/cpu/kernels/math.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace capra::kernels {
namespace HWY_NAMESPACE {
namespace {

// Lanes of the vector at i that lie inside a row of n.
HWY_INLINE size_t lanes_inside(int64_t n, int64_t i) {
  return static_cast<size_t>(n - i < 16 ? n - i : 16);
}
HWY_INLINE F32x16 load_inside(const float* x, int64_t i, int64_t n) {
  return n - i >= 16 ? F32x16::load(x + i) : F32x16::load_partial(x + i, lanes_inside(n, i));
}
HWY_INLINE F64x16 load_inside(const double* x, int64_t i, int64_t n) {
  return n - i >= 16 ? F64x16::load(x + i) : F64x16::load_partial(x + i, lanes_inside(n, i));
}
HWY_INLINE void store_inside(F32x16 v, float* y, int64_t i, int64_t n) {
  if (n - i >= 16) {
    store(v, y + i);
  } else {
    store_partial(v, y + i, lanes_inside(n, i));
  }
}
HWY_INLINE void store_inside(F64x16 v, double* y, int64_t i, int64_t n) {
  if (n - i >= 16) {
    store(v, y + i);
  } else {
    store_partial(v, y + i, lanes_inside(n, i));
  }
}

void fill_row(float value, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = value;
}

void softmax_row(const float* x, float* y, int64_t n) {
  if (n <= 0) return;
  const float lowest = -__builtin_inff();
  // A maximum that may lose a NaN does: a NaN comes back through the sum and reaches every element.
  F32x16 most = F32x16::all(lowest);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) most = max(F32x16::load(x + i), most);
  if (i < n) {
    const size_t rest = lanes_inside(n, i);
    const F32x16 tail = F32x16::load_partial(x + i, rest);
    most = select(F32x16::Mask::first(rest), max(tail, most), most);
  }
  const float m = max_lanes(most);
  if (m == lowest) {
    float value = 0.0f;
    for (i = 0; i < n; ++i) {
      if (x[i] != x[i]) value = x[i];
    }
    fill_row(value, y, n);
    return;
  }
  const F32x16 m_all = F32x16::all(m);
  F32x16 partials = F32x16::all(0.0f);
  for (i = 0; i + 16 <= n; i += 16) {
    const F32x16 e = exp_nonpositive(sub(F32x16::load(x + i), m_all));
    store(e, y + i);
    partials = add(partials, e);
  }
  if (i < n) {
    const size_t rest = lanes_inside(n, i);
    const F32x16 e = exp_nonpositive(sub(F32x16::load_partial(x + i, rest), m_all));
    store_partial(e, y + i, rest);
    partials = add(partials, select(F32x16::Mask::first(rest), e, F32x16::all(0.0f)));
  }
  const F32x16 s = F32x16::all(sum_lanes(partials));
  for (i = 0; i < n; i += 16) store_inside(div(load_inside(y, i, n), s), y, i, n);
}

// S(x) in double. Lanes beyond the row add +0, which changes no partial (none is ever -0).
HWY_INLINE double sum_in_double(const float* x, int64_t n) {
  F64x16 partials = F64x16::all(0.0);
  for (int64_t i = 0; i < n; i += 16) partials = add(partials, widen(load_inside(x, i, n)));
  return sum_lanes(partials);
}

// S((x - m)^2) in double.
HWY_INLINE double sum_squared_difference(const float* x, double m, int64_t n) {
  const F64x16 m_all = F64x16::all(m);
  F64x16 partials = F64x16::all(0.0);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const F64x16 d = sub(widen(F32x16::load(x + i)), m_all);
    partials = add(partials, mul(d, d));
  }
  if (i < n) {
    const size_t rest = lanes_inside(n, i);
    const F64x16 d = sub(widen(F32x16::load_partial(x + i, rest)), m_all);
    const F64x16 square = mul(d, d);
    partials = add(partials, select(F64x16::Mask::first(rest), square, F64x16::all(0.0)));
  }
  return sum_lanes(partials);
}

template <bool has_gamma, bool has_beta>
HWY_INLINE void scale_row(const float* x, double m, double r, const float* gamma, const float* beta,
                          float* y, int64_t n) {
  const F64x16 m_all = F64x16::all(m);
  const F64x16 r_all = F64x16::all(r);
  for (int64_t i = 0; i < n; i += 16) {
    F64x16 v = mul(sub(widen(load_inside(x, i, n)), m_all), r_all);
    if constexpr (has_gamma) v = mul(v, widen(load_inside(gamma, i, n)));
    if constexpr (has_beta) v = add(v, widen(load_inside(beta, i, n)));
    store_inside(narrow(v), y, i, n);
  }
}

void layer_norm_row(const float* x, const float* gamma, const float* beta, double eps, float* y,
                    int64_t n) {
  const auto count = static_cast<double>(n);
  const double m = sum_in_double(x, n) / count;
  const double v = sum_squared_difference(x, m, n) / count;
  const double r = 1.0 / __builtin_sqrt(v + eps);
  if (gamma != nullptr && beta != nullptr) {
    scale_row<true, true>(x, m, r, gamma, beta, y, n);
  } else if (gamma != nullptr) {
    scale_row<true, false>(x, m, r, gamma, beta, y, n);
  } else if (beta != nullptr) {
    scale_row<false, true>(x, m, r, gamma, beta, y, n);
  } else {
    scale_row<false, false>(x, m, r, gamma, beta, y, n);
  }
}

void round_to_f32(const double* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; i += 16) store_inside(narrow(load_inside(x, i, n)), y, i, n);
}

void add_rows(const float* a, const float* b, float* y, int64_t n) {
  for (int64_t i = 0; i < n; i += 16) {
    store_inside(add(load_inside(a, i, n), load_inside(b, i, n)), y, i, n);
  }
}

// Sums 16 columns over the tokens, in double, partials by the token's number; token t counts t + 1
// times if `weighted`.
template <bool weighted>
HWY_INLINE F64x16 sum_tokens(const float* x, int64_t column, int64_t tokens, int64_t n) {
  F64x16 partials[16];
  for (int j = 0; j < 16; ++j) {
    F64x16 partial = F64x16::all(0.0);
    for (int64_t t = j; t < tokens; t += 16) {
      F64x16 v = widen(load_inside(x + t * n, column, n));
      if constexpr (weighted) v = mul(v, F64x16::all(static_cast<double>(t + 1)));
      partial = add(partial, v);
    }
    partials[j] = partial;
  }
  for (int half = 8; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) partials[j] = add(partials[j], partials[j + half]);
  }
  return partials[0];
}

void pool(Pooling kind, const float* x, int64_t tokens, int64_t n, double* out) {
  const auto count = static_cast<double>(tokens);
  for (int64_t i = 0; i < n; i += 16) {
    F64x16 v;
    switch (kind) {
      case Pooling::Cls:
        v = widen(load_inside(x, i, n));
        break;
      case Pooling::LastToken:
        v = widen(load_inside(x + (tokens - 1) * n, i, n));
        break;
      case Pooling::Mean:
        v = div(sum_tokens<false>(x, i, tokens, n), F64x16::all(count));
        break;
      case Pooling::MeanSqrtLen:
        v = div(sum_tokens<false>(x, i, tokens, n), F64x16::all(__builtin_sqrt(count)));
        break;
      case Pooling::WeightedMean:
        v = div(sum_tokens<true>(x, i, tokens, n), F64x16::all(count * (count + 1.0) / 2.0));
        break;
      case Pooling::Max: {
        F32x16 most = load_inside(x, i, n);
        for (int64_t t = 1; t < tokens; ++t) most = maximum(most, load_inside(x + t * n, i, n));
        v = widen(most);
        break;
      }
    }
    store_inside(v, out, i, n);
  }
}

}  // namespace

void fill(NormalizeKernels& table);
void fill(NormalizeKernels& table) {
  table.softmax_row = softmax_row;
  table.layer_norm_row = layer_norm_row;
  table.add_rows = add_rows;
  table.pool = pool;
  table.round_to_f32 = round_to_f32;
}

}  // namespace HWY_NAMESPACE
}  // namespace capra::kernels
HWY_AFTER_NAMESPACE();
