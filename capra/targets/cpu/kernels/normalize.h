// Row-wise normalizations (softmax, layer norm, L2) and pooling of a sequence's tokens.
// Rows are contiguous, `n` elements each; y may be x. The f32 forms go through the table; the other
// float types are portable: f64 keeps the same order in f64, f16 and bf16 widen and round once.
#pragma once

#include <cstdint>

#include "capra/targets/cpu/kernels/element.h"

namespace capra::kernels {

struct KernelTable;

enum class Pooling : uint8_t { Cls, Mean, Max, MeanSqrtLen, WeightedMean, LastToken };

/// One instruction set's f32 rows; the functions below say what each computes.
struct NormalizeKernels {
  void (*softmax_row)(const float* x, float* y, int64_t n) = nullptr;
  void (*layer_norm_row)(const float* x, const float* gamma, const float* beta, double eps,
                         float* y, int64_t n) = nullptr;
  void (*add_rows)(const float* a, const float* b, float* y, int64_t n) = nullptr;
  void (*pool)(Pooling kind, const float* x, int64_t tokens, int64_t n, double* out) = nullptr;
  void (*round_to_f32)(const double* x, float* y, int64_t n) = nullptr;
};

/// m = max, e = exp(x - m), s by partials, e / s. A row of nothing but -infinity is zeros; a NaN or
/// +infinity in a row makes it NaN.
void softmax_rows(const KernelTable& table, Element type, const void* x, void* y, int64_t rows,
                  int64_t n);

/// In double inside: m = S(x) / n, d = x - m, v = S(d d) / n, r = 1 / sqrt(v + eps),
/// y = ((d r) gamma) + beta, rounded once. gamma and beta have n elements of `type`, or are null
/// (that step is left out). `residual` of x's shape may be null; else x + residual is rounded to
/// `type` first and normed.
void layer_norm_rows(const KernelTable& table, Element type, const void* x, const void* residual,
                     const void* gamma, const void* beta, double eps, void* y, int64_t rows,
                     int64_t n);

/// Embedding rows summed and normed in one pass, f32:
/// layer_norm((word[ids[t]] + position[positions[t]]) + type[type_ids[t]]), each add rounded.
struct EmbeddingNorm {
  const float* word;         // [vocabulary, n]
  const float* position;     // [positions, n], or null: no such step
  const float* type;         // [types, n], or null: no such step
  const int64_t* ids;        // [tokens]
  const int64_t* positions;  // [tokens]; null: 0, 1, 2, ...
  const int64_t* type_ids;   // [tokens]; null: 0 for every token
  const float* gamma;        // [n] or null
  const float* beta;         // [n] or null
  double eps;
};
/// y is [tokens, n]; `range` counts tokens (row t of y is token t). Ids must be in range.
void embedding_norm(const KernelTable& table, const EmbeddingNorm& e, float* y, int64_t n,
                    Range range);

/// Pools the f32 rows x [tokens, n], tokens >= 1, of one sequence into n doubles, unrounded: sums
/// go by partials over the token's number. MeanSqrtLen = sum / sqrt(tokens); WeightedMean weighs
/// token t by t + 1, (sum of x (t + 1)) / (tokens (tokens + 1) / 2).
void pool(const KernelTable& table, Pooling kind, const float* x, int64_t tokens, int64_t n,
          double* out);

/// One rounding each.
void round_to_f32(const KernelTable& table, const double* x, float* y, int64_t n);

/// x / max(sqrt(S(x x)), 1e-12), every step in double; a NaN in x makes all of y NaN.
void l2_normalize(const double* x, double* y, int64_t n);

}  // namespace capra::kernels
