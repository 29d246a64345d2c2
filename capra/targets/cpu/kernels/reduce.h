// Reductions over any axes in the contract's order: the reduced elements of an output are numbered
// i in row-major order, partial p[i mod 16] starts at +0 and adds in ascending i, then p[j] += p[j
// + 8], + 4, + 2, + 1.
#pragma once

#include <cstdint>

#include "capra/targets/cpu/kernels/element.h"

namespace capra::kernels {

struct KernelTable;

/// Sum, Max, Argmax: floats and integers; Max bool too. Mean, Variance: floats.
/// Sum of integers wraps; of nothing is 0. Max: any NaN gives NaN, +0 > -0; of nothing is the
/// least value, -infinity for floats. Mean = sum / n, of nothing NaN.
/// Variance: population, two passes, (x - mean)^2 rounded, then summed.
/// Argmax: i64, lowest index of the greatest value, of the first NaN if there is one.
enum class ReduceOp : uint8_t { Sum, Max, Mean, Variance, Argmax };

/// One instruction set's reductions of a contiguous f32 row, in the contract's order.
struct ReduceKernels {
  float (*sum_f32)(const float* x, int64_t n) = nullptr;
  /// The sum of (x - mean)^2, both steps rounded.
  float (*sum_squared_difference_f32)(const float* x, float mean, int64_t n) = nullptr;
  float (*max_f32)(const float* x, int64_t n) = nullptr;
};

bool reduce_supports(ReduceOp op, Element type);

/// Reduces the axes set in the bit mask `axes` of an input with `rank` <= kMaxRank `dims` and
/// element strides; `out` is contiguous over the kept dims in order; `range` counts output
/// elements. Out is of `type`, i64 for Argmax (index within the reduced elements' row-major
/// numbering).
void reduce(const KernelTable& table, ReduceOp op, Element type, Strided x, int rank,
            const int64_t* dims, uint32_t axes, void* out, Range range);

}  // namespace capra::kernels
