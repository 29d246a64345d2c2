// The inner loop of every matrix product: a few rows of A against a few vectors of columns of B,
// one block of k after the other, sums in registers. Compiled once per instruction set (see vec.h).
#if defined(CAPRA_TARGETS_CPU_KERNELS_MATMUL_BLOCK_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAPRA_TARGETS_CPU_KERNELS_MATMUL_BLOCK_H_
#undef CAPRA_TARGETS_CPU_KERNELS_MATMUL_BLOCK_H_
#else
#define CAPRA_TARGETS_CPU_KERNELS_MATMUL_BLOCK_H_
#endif

#include "capra/targets/cpu/kernels/vec.h"

HWY_BEFORE_NAMESPACE();
namespace capra::kernels {
namespace HWY_NAMESPACE {
namespace {

// k is cut into blocks of this many from 0: part of the numeric contract.
constexpr size_t kBlock = 64;

// What a tile of registers is: its rows, and its vectors of 16 columns. 28 of 32 registers on
// AVX-512, 12 of 16 on AVX2, 24 of 32 on NEON hold sums.
#if CAPRA_ISA_PORTABLE
constexpr int kTileRows = 4;
constexpr int kTileVectors = 1;
#elif HWY_TARGET == HWY_AVX3
constexpr int kTileRows = 14;
constexpr int kTileVectors = 2;
#else
constexpr int kTileRows = 6;
constexpr int kTileVectors = 1;
#endif

constexpr size_t kPanel = kTileVectors * 16;

// How far ahead of its use a right operand is asked for: from memory, and from the second-level
// cache.
constexpr size_t kFarBytes = size_t{24} << 10;
constexpr size_t kNearBytes = size_t{6} << 10;

// Sums leave the registers as rows of this many elements: attention reads its scores as a factor.
constexpr size_t kTotalStride = kBlock;

template <class V, int vectors>
struct Columns;
template <class V>
struct Columns<V, 1> {
  V v0;
  static HWY_INLINE Columns load(const typename V::Scalar* p) { return {V::load(p)}; }
  HWY_INLINE void store_to(typename V::Scalar* p) const { store(v0, p); }
};
template <class V>
struct Columns<V, 2> {
  V v0;
  V v1;
  static HWY_INLINE Columns load(const typename V::Scalar* p) {
    return {V::load(p), V::load(p + V::kLanes)};
  }
  HWY_INLINE void store_to(typename V::Scalar* p) const {
    store(v0, p);
    store(v1, p + V::kLanes);
  }
};
template <class V>
HWY_INLINE Columns<V, 1> add(Columns<V, 1> a, Columns<V, 1> b) {
  return {add(a.v0, b.v0)};
}
template <class V>
HWY_INLINE Columns<V, 2> add(Columns<V, 2> a, Columns<V, 2> b) {
  return {add(a.v0, b.v0), add(a.v1, b.v1)};
}
template <class V>
HWY_INLINE Columns<V, 1> mul(V a, Columns<V, 1> b) {
  return {mul(a, b.v0)};
}
template <class V>
HWY_INLINE Columns<V, 2> mul(V a, Columns<V, 2> b) {
  return {mul(a, b.v0), mul(a, b.v1)};
}
template <class V>
HWY_INLINE Columns<V, 1> fma(V a, Columns<V, 1> b, Columns<V, 1> c) {
  return {fma(a, b.v0, c.v0)};
}
template <class V>
HWY_INLINE Columns<V, 2> fma(V a, Columns<V, 2> b, Columns<V, 2> c) {
  return {fma(a, b.v0, c.v0), fma(a, b.v1, c.v1)};
}

// The first `count` elements: of a whole vector, which most are, without a mask.
template <class V>
HWY_INLINE void store_columns(V v, typename V::Scalar* to, size_t count) {
  if (count >= V::kLanes) {
    store(v, to);
  } else {
    store_partial(v, to, count);
  }
}

// The sums of `rows` rows. Recursion instead of an array: each sum is a variable of its own, which
// compilers keep in a register. a[r * kBlock] is row r's factor.
template <class V, int vectors, int rows>
struct Sums {
  using T = typename V::Scalar;
  Sums<V, vectors, rows - 1> above;
  Columns<V, vectors> row;

  HWY_INLINE void start(const T* a, Columns<V, vectors> b) {
    above.start(a, b);
    row = mul(V::all(a[(rows - 1) * kBlock]), b);
  }
  HWY_INLINE void step(const T* a, Columns<V, vectors> b) {
    above.step(a, b);
    row = fma(V::all(a[(rows - 1) * kBlock]), b, row);
  }
  HWY_INLINE void put(T* total) const {
    above.put(total);
    row.store_to(total + (rows - 1) * kTotalStride);
  }
  HWY_INLINE void add_to(T* total) const {
    above.add_to(total);
    T* p = total + (rows - 1) * kTotalStride;
    add(Columns<V, vectors>::load(p), row).store_to(p);
  }
};
template <class V, int vectors>
struct Sums<V, vectors, 0> {
  using T = typename V::Scalar;
  HWY_INLINE void start(const T*, Columns<V, vectors>) {}
  HWY_INLINE void step(const T*, Columns<V, vectors>) {}
  HWY_INLINE void put(T*) const {}
  HWY_INLINE void add_to(T*) const {}
};

// One block into `sums`: `steps` of k, at least 1. a is [rows, kBlock]; b is [steps, b_stride].
// `sums` is the caller's variable and not a result: g++ would keep a copy of a result in memory.
// `soon` is memory to ask for, `soon_step` elements further each step of k: it comes as far as the
// second-level cache, whose queue is long enough for the time that memory takes, and from there b
// comes to the first a little before its step. A few rows pass too fast for more instructions:
// there the processor's own prefetcher does it.
template <class V, int vectors, int rows>
HWY_INLINE void block_sums(Sums<V, vectors, rows>& sums, const typename V::Scalar* a,
                           const typename V::Scalar* b, size_t b_stride, size_t steps,
                           const typename V::Scalar* soon, size_t soon_step) {
  using Cols = Columns<V, vectors>;
  sums.start(a, Cols::load(b));
  for (size_t i = 1; i < steps; ++i) {
    ++a;
    b += b_stride;
    if constexpr (rows > 4) {
      for (size_t j = 0; j < vectors * V::kLanes; j += 64 / sizeof(*b)) {
        __builtin_prefetch(soon + j, 0, 2);
        __builtin_prefetch(b + kNearBytes / sizeof(*b) + j);
      }
    }
    soon += soon_step;
    sums.step(a, Cols::load(b));
  }
}

// The first vectors * 16 of each row of total[rows, kTotalStride] = A B over all of k, at least 1.
// a is [blocks, rows, kBlock], the last block's rows filled in part; b is [k, vectors * 16].
template <class V, int vectors, int rows>
HWY_NOINLINE void tile_product(const typename V::Scalar* a, const typename V::Scalar* b, size_t k,
                               const typename V::Scalar* soon, size_t soon_step,
                               typename V::Scalar* total) {
  constexpr size_t kWidth = vectors * V::kLanes;
  for (size_t begin = 0; begin < k; begin += kBlock) {
    const size_t steps = k - begin < kBlock ? k - begin : kBlock;
    Sums<V, vectors, rows> sums;
    block_sums(sums, a, b, kWidth, steps, soon, soon_step);
    if (begin == 0) {
      sums.put(total);
    } else {
      sums.add_to(total);
    }
    a += rows * kBlock;
    b += steps * kWidth;
    soon += steps * soon_step;
  }
}

template <class T>
using TileFunction = void (*)(const T* a, const T* b, size_t k, const T* soon, size_t soon_step,
                              T* total);

// The function for 1 to kTileRows rows.
template <class V, int vectors, int rows = kTileRows>
HWY_INLINE TileFunction<typename V::Scalar> tile_function(size_t count) {
  if constexpr (rows == 1) {
    return tile_product<V, vectors, 1>;
  } else {
    if (count >= rows) return tile_product<V, vectors, rows>;
    return tile_function<V, vectors, rows - 1>(count);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace capra::kernels
HWY_AFTER_NAMESPACE();

#endif
