// Matrix products: packing, the loop over tiles, and what is done to a tile before it leaves.
// A chunk of rows that fits the second-level cache is copied once; panels of B then pass by outside
// and the chunk's tiles inside, so that each weight is read from memory once a chunk.
#include "capra/targets/cpu/kernels/matmul.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "capra/targets/cpu/kernels/matmul.cc"
// clang-format off
#include "capra/targets/cpu/kernels/foreach_isa.h"
#include "capra/targets/cpu/kernels/math.h"
#include "capra/targets/cpu/kernels/matmul_block.h"
#include "capra/targets/cpu/kernels/matmul_pack.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace capra::kernels {
namespace HWY_NAMESPACE {
namespace {

// In f64 a vector of 16 columns is twice as many registers.
constexpr int kTileRows64 = kTileRows == 14 ? 8 : 2;
constexpr size_t kPanel64 = 16;

constexpr size_t kChunkBytes = size_t{256} << 10;
constexpr size_t kTotalBytes = 4096;
static_assert(kTileRows * kTotalStride * sizeof(float) <= kTotalBytes);
static_assert(kTileRows64 * kTotalStride * sizeof(double) <= kTotalBytes);

// Rows of A that are copied at a time: whole tiles, at least one.
size_t chunk_rows(size_t k, size_t element_bytes, size_t tile_rows) {
  const size_t tiles = kChunkBytes / (padded(k) * element_bytes * tile_rows + 1);
  return (tiles == 0 ? 1 : tiles) * tile_rows;
}

struct Scratch {
  char* chunk;
  char* panel;
  char* total;
};
size_t chunk_bytes(size_t k) {
  const size_t one = chunk_rows(k, 4, kTileRows) * padded(k) * 4;
  const size_t two = chunk_rows(k, 8, kTileRows64) * padded(k) * 8;
  return one > two ? one : two;
}
size_t panel_bytes(size_t k) { return padded(k) * 128; }
size_t scratch_bytes(size_t k) { return chunk_bytes(k) + panel_bytes(k) + kTotalBytes; }
Scratch split(void* scratch, size_t k) {
  char* p = static_cast<char*>(scratch);
  return {p + kTotalBytes, p + kTotalBytes + chunk_bytes(k), p};
}

size_t packed_floats(size_t k, size_t n) { return (n + kPanel - 1) / kPanel * kPanel * k; }

void pack_b(const float* b, ptrdiff_t b_row, ptrdiff_t b_col, size_t k, size_t n, size_t col_begin,
            size_t col_end, float* packed) {
  for (size_t j = col_begin; j < col_end; j += kPanel) {
    pack_panel<F32x16>(b + static_cast<ptrdiff_t>(j) * b_col, b_row, b_col, k, least(kPanel, n - j),
                       kPanel, packed + j * k);
  }
}

struct Gelu {
  HWY_INLINE F32x16 operator()(F32x16 x) const { return gelu_exact(x); }
};
struct GeluByTanh {
  HWY_INLINE F32x16 operator()(F32x16 x) const { return gelu_tanh(x); }
};
struct Relu {
  HWY_INLINE F32x16 operator()(F32x16 x) const { return relu(x); }
};
struct Silu {
  HWY_INLINE F32x16 operator()(F32x16 x) const { return silu(x); }
};
struct Sigmoid {
  HWY_INLINE F32x16 operator()(F32x16 x) const { return sigmoid(x); }
};
struct Tanh {
  HWY_INLINE F32x16 operator()(F32x16 x) const { return tanh(x); }
};
template <class F>
HWY_NOINLINE void apply(F f, float* x, size_t rows) {
  for (size_t r = 0; r < rows; ++r, x += kTotalStride) {
    for (size_t j = 0; j < kPanel; j += 16) store(f(F32x16::load(x + j)), x + j);
  }
}
void activate(Activation activation, float* x, size_t rows) {
  switch (activation) {
    case Activation::None:
      return;
    case Activation::GeluExact:
      return apply(Gelu(), x, rows);
    case Activation::GeluTanh:
      return apply(GeluByTanh(), x, rows);
    case Activation::Relu:
      return apply(Relu(), x, rows);
    case Activation::Silu:
      return apply(Silu(), x, rows);
    case Activation::Sigmoid:
      return apply(Sigmoid(), x, rows);
    case Activation::Tanh:
      return apply(Tanh(), x, rows);
  }
}

// Factor and bias, in place.
void scale_and_bias(const MatmulEpilogue& e, size_t col, size_t columns, size_t rows,
                    float* total) {
  for (size_t j = 0; j < columns; j += 16) {
    const F32x16 factor = F32x16::all(e.factor);
    if (e.bias == nullptr) {
      if (e.factor == 1.0F) continue;
      for (size_t r = 0; r < rows; ++r) {
        float* p = total + r * kTotalStride + j;
        store(mul(F32x16::load(p), factor), p);
      }
      continue;
    }
    const F32x16 bias = F32x16::load_partial(e.bias + col + j, least(16, columns - j));
    for (size_t r = 0; r < rows; ++r) {
      float* p = total + r * kTotalStride + j;
      store(add(mul(F32x16::load(p), factor), bias), p);
    }
  }
}

// One tile of C, rows [row, row + rows) and columns [col, col + columns), from its sums.
void finish(const MatmulEpilogue& e, float* c, ptrdiff_t c_row, size_t row, size_t rows, size_t col,
            size_t columns, float* total) {
  scale_and_bias(e, col, columns, rows, total);
  activate(e.activation, total, rows);
  for (size_t r = 0; r < rows; ++r) {
    float* to = c + static_cast<ptrdiff_t>(row + r) * c_row + col;
    const float* residual =
        e.residual == nullptr ? nullptr
                              : e.residual + static_cast<ptrdiff_t>(row + r) * e.residual_row + col;
    for (size_t j = 0; j < columns; j += 16) {
      const size_t left = least(16, columns - j);
      F32x16 v = F32x16::load(total + r * kTotalStride + j);
      if (residual != nullptr) v = add(v, F32x16::load_partial(residual + j, left));
      store_columns(v, to + j, left);
    }
  }
}
void finish(double factor, double* c, ptrdiff_t c_row, size_t row, size_t rows, size_t col,
            size_t columns, double* total) {
  for (size_t r = 0; r < rows; ++r) {
    double* to = c + static_cast<ptrdiff_t>(row + r) * c_row + col;
    store_partial(mul(F64x16::load(total + r * kTotalStride), F64x16::all(factor)), to, columns);
  }
}

template <class T>
struct Left {
  const T* a;
  ptrdiff_t row;
  ptrdiff_t col;
};
// Where a panel of B comes from: packed before, or packed now into scratch. Packed panels lie one
// behind the other.
template <class V>
struct PackedPanels {
  static constexpr bool kInARow = true;
  const typename V::Scalar* packed;
  size_t k;
  HWY_INLINE const typename V::Scalar* panel(size_t col, size_t, char*) const {
    return packed + col * k;
  }
};
template <class V, size_t width>
struct PlainPanels {
  static constexpr bool kInARow = false;
  const typename V::Scalar* b;
  ptrdiff_t row;
  ptrdiff_t col_stride;
  size_t k;
  const typename V::Scalar* panel(size_t col, size_t columns, char* scratch) const {
    auto* packed = reinterpret_cast<typename V::Scalar*>(scratch);
    pack_panel<V>(b + static_cast<ptrdiff_t>(col) * col_stride, row, col_stride, k, columns, width,
                  packed);
    return packed;
  }
};

// The loop over tiles. Tiles differ by at most one row, so the last one is not a sliver.
template <class V, int vectors, int tile_rows, class Panels, class Epilogue>
void product(Left<typename V::Scalar> left, const Panels& panels, const Epilogue& epilogue,
             typename V::Scalar* c, ptrdiff_t c_row, size_t n, size_t k, const MatmulTile& tile,
             void* scratch) {
  using T = typename V::Scalar;
  constexpr size_t kWidth = vectors * V::kLanes;
  const Scratch parts = split(scratch, k);
  T* const chunk = reinterpret_cast<T*>(parts.chunk);
  T* const total = reinterpret_cast<T*>(parts.total);
  const size_t step = chunk_rows(k, sizeof(T), tile_rows);
  const size_t col_end = least(tile.col_end, n);
  for (size_t begin = tile.row_begin; begin < tile.row_end; begin += step) {
    const size_t rows = least(step, tile.row_end - begin);
    const size_t tiles = (rows + tile_rows - 1) / tile_rows;
    for (size_t t = 0; t < tiles; ++t) {
      const size_t first = rows * t / tiles;
      pack_rows<V>(left.a + static_cast<ptrdiff_t>(begin + first) * left.row, left.row, left.col,
                   rows * (t + 1) / tiles - first, k, chunk + first * padded(k));
    }
    for (size_t col = tile.col_begin; col < col_end; col += kWidth) {
      const size_t columns = least(kWidth, col_end - col);
      const T* panel = panels.panel(col, columns, parts.panel);
      for (size_t t = 0; t < tiles; ++t) {
        const size_t first = rows * t / tiles;
        const size_t count = rows * (t + 1) / tiles - first;
        // The tile's place in C, and what is added there, come in while the sums are made.
        for (size_t r = 0; r < count; ++r) {
          const T* to = c + static_cast<ptrdiff_t>(begin + first + r) * c_row + col;
          __builtin_prefetch(to, 0, 2);
          __builtin_prefetch(to + columns - 1, 0, 2);
        }
        if (k == 0) {
          std::memset(total, 0, kTotalBytes);
        } else {
          // A lone tile asks for what it reads itself a little later; of several, each asks for its
          // part of the next panel.
          const T* soon = panel;
          size_t soon_step = 0;
          if (Panels::kInARow && tiles == 1) {
            soon = panel + kFarBytes / sizeof(T);
            soon_step = kWidth;
          } else if (Panels::kInARow) {
            soon_step = (kWidth + tiles - 1) / tiles;
            soon = panel + k * (kWidth + t * soon_step);
          }
          tile_function<V, vectors, tile_rows>(count)(chunk + first * padded(k), panel, k, soon,
                                                      soon_step, total);
        }
        finish(epilogue, c, c_row, begin + first, count, col, columns, total);
      }
    }
  }
}

void f32(const MatmulF32& p, const MatmulTile& tile, void* scratch) {
  const PackedPanels<F32x16> panels{p.packed_b, p.k};
  product<F32x16, kTileVectors, kTileRows>(Left<float>{p.a, p.a_row, p.a_col}, panels, p.epilogue,
                                           p.c, p.c_row, p.n, p.k, tile, scratch);
}

void plain_f32(const MatmulPlainF32& p, const MatmulTile& tile, void* scratch) {
  const PlainPanels<F32x16, kPanel> panels{p.b, p.b_row, p.b_col, p.k};
  product<F32x16, kTileVectors, kTileRows>(Left<float>{p.a, p.a_row, p.a_col}, panels, p.epilogue,
                                           p.c, p.c_row, p.n, p.k, tile, scratch);
}

void plain_f64(const MatmulPlainF64& p, const MatmulTile& tile, void* scratch) {
  const PlainPanels<F64x16, kPanel64> panels{p.b, p.b_row, p.b_col, p.k};
  product<F64x16, 1, kTileRows64>(Left<double>{p.a, p.a_row, p.a_col}, panels, p.factor, p.c,
                                  p.c_row, p.n, p.k, tile, scratch);
}

}  // namespace

void fill(MatmulKernels& table) {
  table.panel = kPanel;
  table.tile_rows = kTileRows;
  table.scratch_bytes = scratch_bytes;
  table.packed_floats = packed_floats;
  table.pack_b = pack_b;
  table.f32 = f32;
  table.plain_f32 = plain_f32;
  table.plain_f64 = plain_f64;
}

}  // namespace HWY_NAMESPACE
}  // namespace capra::kernels
HWY_AFTER_NAMESPACE();
