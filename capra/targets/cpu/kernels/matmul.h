// Matrix products on f32 and f64: the interface of the kernels. Every element is computed in one
// order whatever the tile, the layout or the machine: k in blocks of 64 from 0, a block starts with
// its first product and adds one fused multiply-add a step, the block sums are added in order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace capra::kernels {

enum class Activation : uint8_t { None, GeluExact, GeluTanh, Relu, Silu, Sigmoid, Tanh };

/// What is done to each element of a product, in this order, each a rounded step.
struct MatmulEpilogue {
  float factor = 1.0F;          ///< a multiplication by 1 changes no bits
  const float* bias = nullptr;  ///< [n], or none
  Activation activation = Activation::None;
  const float* residual = nullptr;  ///< [m, n], or none; may be the same memory as the result
  ptrdiff_t residual_row = 0;       ///< elements between its rows
};

/// C[m, n] = A[m, k] B[k, n] with B packed. Strides are in elements. k = 0 gives +0.
struct MatmulF32 {
  size_t m = 0;
  size_t n = 0;
  size_t k = 0;
  const float* a = nullptr;
  ptrdiff_t a_row = 0;
  ptrdiff_t a_col = 1;
  const float* packed_b = nullptr;  ///< from pack_b of the same table
  float* c = nullptr;               ///< may not overlap A
  ptrdiff_t c_row = 0;
  MatmulEpilogue epilogue;
};

/// The same with B as it lies: either layout, by its strides.
template <class T>
struct MatmulPlain {
  size_t m = 0;
  size_t n = 0;
  size_t k = 0;
  const T* a = nullptr;
  ptrdiff_t a_row = 0;
  ptrdiff_t a_col = 1;
  const T* b = nullptr;
  ptrdiff_t b_row = 0;
  ptrdiff_t b_col = 1;
  T* c = nullptr;
  ptrdiff_t c_row = 0;
};
struct MatmulPlainF32 : MatmulPlain<float> {
  MatmulEpilogue epilogue;
};
/// In f64 there is a factor and no other epilogue: the rest runs as ops of its own, to the same
/// bits.
struct MatmulPlainF64 : MatmulPlain<double> {
  double factor = 1.0;
};

/// The part of C that one call computes.
struct MatmulTile {
  size_t row_begin = 0;
  size_t row_end = 0;
  size_t col_begin = 0;  ///< a multiple of MatmulKernels::panel
  size_t col_end = 0;    ///< a multiple of it too, or n
};

/// One instruction set's matrix products. The functions are single-threaded and allocate nothing;
/// scratch is 64-byte aligned, scratch_bytes(k) long, and used by one call at a time.
struct MatmulKernels {
  size_t panel = 0;      ///< columns of B that are packed together
  size_t tile_rows = 0;  ///< rows of C that are computed together

  size_t (*scratch_bytes)(size_t k) = nullptr;
  /// How many floats pack_b writes; the destination is 64-byte aligned.
  size_t (*packed_floats)(size_t k, size_t n) = nullptr;
  /// Packs the panels that hold columns col_begin to col_end (bounds as in MatmulTile).
  void (*pack_b)(const float* b, ptrdiff_t b_row, ptrdiff_t b_col, size_t k, size_t n,
                 size_t col_begin, size_t col_end, float* packed) = nullptr;
  void (*f32)(const MatmulF32& product, const MatmulTile& tile, void* scratch) = nullptr;
  void (*plain_f32)(const MatmulPlainF32& product, const MatmulTile& tile, void* scratch) = nullptr;
  void (*plain_f64)(const MatmulPlainF64& product, const MatmulTile& tile, void* scratch) = nullptr;
};

/// How many tiles a product is best cut into for `threads` threads: at most that many.
size_t matmul_parts(const MatmulKernels& kernels, size_t m, size_t n, size_t k, size_t threads);
/// Tile number `part` of `parts`; together they cover C once. Empty tiles have no rows.
MatmulTile matmul_tile(const MatmulKernels& kernels, size_t m, size_t n, size_t parts, size_t part);

}  // namespace capra::kernels
