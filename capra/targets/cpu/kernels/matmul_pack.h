// Copies of operands in the order matmul_block.h reads them. Compiled once per instruction set (see
// vec.h).
#if defined(CAPRA_TARGETS_CPU_KERNELS_MATMUL_PACK_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAPRA_TARGETS_CPU_KERNELS_MATMUL_PACK_H_
#undef CAPRA_TARGETS_CPU_KERNELS_MATMUL_PACK_H_
#else
#define CAPRA_TARGETS_CPU_KERNELS_MATMUL_PACK_H_
#endif

#include "capra/targets/cpu/kernels/matmul_block.h"

HWY_BEFORE_NAMESPACE();
namespace capra::kernels {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE size_t padded(size_t k) { return (k + kBlock - 1) / kBlock * kBlock; }
HWY_INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }

// packed[i * width + c] = b[i + c * b_col] for four columns c.
template <class T>
HWY_INLINE void transpose_4_columns(const T* b, ptrdiff_t b_col, size_t k, size_t width,
                                    T* packed) {
  size_t i = 0;
#if !CAPRA_ISA_PORTABLE
  if constexpr (sizeof(T) == 4) {
    const hn::Full128<T> d;
    const hn::RepartitionToWide<decltype(d)> wide;
    for (; i + 4 <= k; i += 4) {
      const auto r0 = hn::LoadU(d, b + i);
      const auto r1 = hn::LoadU(d, b + i + b_col);
      const auto r2 = hn::LoadU(d, b + i + 2 * b_col);
      const auto r3 = hn::LoadU(d, b + i + 3 * b_col);
      const auto low01 = hn::BitCast(wide, hn::InterleaveLower(d, r0, r1));
      const auto high01 = hn::BitCast(wide, hn::InterleaveUpper(d, r0, r1));
      const auto low23 = hn::BitCast(wide, hn::InterleaveLower(d, r2, r3));
      const auto high23 = hn::BitCast(wide, hn::InterleaveUpper(d, r2, r3));
      T* to = packed + i * width;
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, low01, low23)), d, to);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, low01, low23)), d, to + width);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, high01, high23)), d, to + 2 * width);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, high01, high23)), d, to + 3 * width);
    }
  }
#endif
  for (; i < k; ++i) {
    for (size_t c = 0; c < 4; ++c) {
      packed[i * width + c] = b[static_cast<ptrdiff_t>(i) + static_cast<ptrdiff_t>(c) * b_col];
    }
  }
}

// packed[k, width] = the `columns` columns from b on; the rest is zero.
template <class V>
HWY_INLINE void pack_panel(const typename V::Scalar* b, ptrdiff_t b_row, ptrdiff_t b_col, size_t k,
                           size_t columns, size_t width, typename V::Scalar* packed) {
  if (b_col == 1) {
    for (size_t i = 0; i < k; ++i) {
      for (size_t j = 0; j < width; j += V::kLanes) {
        const size_t left = columns > j ? columns - j : 0;
        const typename V::Scalar* from = b + static_cast<ptrdiff_t>(i) * b_row + j;
        store(left >= V::kLanes ? V::load(from) : V::load_partial(left == 0 ? b : from, left),
              packed + i * width + j);
      }
    }
    return;
  }
  if (columns < width) {
    for (size_t i = 0; i < k * width; i += V::kLanes) store(V::all(0), packed + i);
  }
  size_t j = 0;
  if (b_row == 1) {
    for (; j + 4 <= columns; j += 4) {
      transpose_4_columns(b + static_cast<ptrdiff_t>(j) * b_col, b_col, k, width, packed + j);
    }
  }
  for (; j < columns; ++j) {
    const typename V::Scalar* from = b + static_cast<ptrdiff_t>(j) * b_col;
    for (size_t i = 0; i < k; ++i) packed[i * width + j] = from[static_cast<ptrdiff_t>(i) * b_row];
  }
}

// Copies rows of A as tile_product reads them: [blocks, rows, kBlock].
template <class V>
HWY_INLINE void pack_rows(const typename V::Scalar* a, ptrdiff_t a_row, ptrdiff_t a_col,
                          size_t rows, size_t k, typename V::Scalar* packed) {
  for (size_t begin = 0; begin < k; begin += kBlock) {
    const size_t steps = least(kBlock, k - begin);
    for (size_t r = 0; r < rows; ++r) {
      const typename V::Scalar* from =
          a + static_cast<ptrdiff_t>(r) * a_row + static_cast<ptrdiff_t>(begin) * a_col;
      if (a_col == 1) {
        size_t i = 0;
        for (; i + V::kLanes <= steps; i += V::kLanes) store(V::load(from + i), packed + i);
        if (i < steps) store_partial(V::load_partial(from + i, steps - i), packed + i, steps - i);
      } else {
        for (size_t i = 0; i < steps; ++i) packed[i] = from[static_cast<ptrdiff_t>(i) * a_col];
      }
      packed += kBlock;
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace capra::kernels
HWY_AFTER_NAMESPACE();

#endif
