// Matrix products on packed weights: what the rows of matmul and linear and the fused groups share.
#pragma once

#include <memory>
#include <span>

#include "capra/targets/cpu/cpu_step.h"

namespace capra::cpu {

/// A right operand [k, n] in the layout of one kernel table. Shared with nothing that is mapped.
struct PackedWeight {
  size_t k = 0;
  size_t n = 0;
  std::shared_ptr<Buffer> floats;
};

/// Packs b[k, n] (strides in elements) on the pool.
PackedWeight pack_weight(const KernelTable& table, const float* b, ptrdiff_t b_row, ptrdiff_t b_col,
                         size_t k, size_t n, ThreadPool& pool, StepMemory& memory);
/// Packs weights [out, in], one below the other, as one right operand [in, sum of out].
PackedWeight pack_weights(const KernelTable& table, std::span<const Array* const> weights,
                          ThreadPool& pool, StepMemory& memory);

/// out[m, n] = x[m, k] weight, then the epilogue. Rows of x and out are `x_row` and `out_row`
/// elements apart.
struct PackedProduct {
  const PackedWeight& weight;
  const float* x = nullptr;
  ptrdiff_t x_row = 0;
  ptrdiff_t x_col = 1;
  size_t m = 0;
  float* out = nullptr;
  ptrdiff_t out_row = 0;
  kernels::MatmulEpilogue epilogue = {};
};
void run_product(const KernelTable& table, const PackedProduct& product, ThreadPool& pool,
                 Scratch& scratch);
/// The same, and when rows are finished calls `after(row_begin, row_end)` for them, once for each
/// row.
template <class After>
void run_product(const KernelTable& table, const PackedProduct& product, ThreadPool& pool,
                 Scratch& scratch, const After& after);

kernels::MatmulF32 matmul_of(const PackedProduct& product);
/// How many parts, a few for each thread, the rows of a tall product are cut into; 0 for one with
/// few rows, whose columns are better shared out.
size_t row_parts(const kernels::MatmulKernels& matmul, size_t m, size_t threads);
/// The rows of one part: whole tiles.
std::pair<size_t, size_t> part_rows(const kernels::MatmulKernels& matmul, size_t m, size_t parts,
                                    size_t part);

template <class After>
void run_product(const KernelTable& table, const PackedProduct& product, ThreadPool& pool,
                 Scratch& scratch, const After& after) {
  const kernels::MatmulKernels& matmul = table.matmul;
  const size_t n = product.weight.n;
  const auto threads = static_cast<size_t>(pool.threads());
  const size_t parts = row_parts(matmul, product.m, threads);
  if (parts == 0) {
    run_product(table, product, pool, scratch);
    split(pool, static_cast<int64_t>(product.m), row_grain(static_cast<int64_t>(n)),
          [&](int64_t begin, int64_t end, int) { after(begin, end); });
    return;
  }
  const size_t each = aligned(matmul.scratch_bytes(product.weight.k));
  std::byte* memory = scratch.get(each * threads);
  const kernels::MatmulF32 whole = matmul_of(product);
  pool.run(static_cast<int64_t>(parts), [&](int64_t part, int worker) {
    const auto [begin, end] = part_rows(matmul, product.m, parts, static_cast<size_t>(part));
    matmul.f32(whole, {begin, end, 0, n}, memory + static_cast<size_t>(worker) * each);
    // These rows are in the cache of this worker now.
    after(static_cast<int64_t>(begin), static_cast<int64_t>(end));
  });
}

/// A step on f32 made for f16 or bf16: operands widen, the result is rounded once. `make` gets a
/// request in f32.
Result<std::unique_ptr<Step>> make_widened(const StepRequest& request, const KernelTable& table,
                                           MakeCpuStep make);

}  // namespace capra::cpu
