// Packing and running products of packed weights, and steps that widen 16-bit floats.
#include "capra/targets/cpu/product.h"

#include <array>
#include <vector>

#include "capra/targets/cpu/kernels/elementwise.h"

namespace capra::cpu {

PackedWeight pack_weight(const KernelTable& table, const float* b, ptrdiff_t b_row, ptrdiff_t b_col,
                         size_t k, size_t n, ThreadPool& pool, StepMemory& memory) {
  const kernels::MatmulKernels& matmul = table.matmul;
  PackedWeight packed{k, n, memory.get(matmul.packed_floats(k, n) * sizeof(float))};
  auto* floats = reinterpret_cast<float*>(packed.floats->data());
  const size_t panels = (n + matmul.panel - 1) / matmul.panel;
  pool.run(static_cast<int64_t>(panels), [&](int64_t panel, int) {
    const size_t begin = static_cast<size_t>(panel) * matmul.panel;
    matmul.pack_b(b, b_row, b_col, k, n, begin, std::min(n, begin + matmul.panel), floats);
  });
  return packed;
}

PackedWeight pack_weights(const KernelTable& table, std::span<const Array* const> weights,
                          ThreadPool& pool, StepMemory& memory) {
  const int64_t in = weights.front()->sizes()[1];
  if (weights.size() == 1) {
    return pack_weight(table, weights.front()->as<float>().data(), 1, in, static_cast<size_t>(in),
                       static_cast<size_t>(weights.front()->sizes()[0]), pool, memory);
  }
  std::vector<float> rows;
  size_t out = 0;
  for (const Array* weight : weights) {
    const std::span<const float> values = weight->as<float>();
    rows.insert(rows.end(), values.begin(), values.end());
    out += static_cast<size_t>(weight->sizes()[0]);
  }
  return pack_weight(table, rows.data(), 1, in, static_cast<size_t>(in), out, pool, memory);
}

kernels::MatmulF32 matmul_of(const PackedProduct& product) {
  kernels::MatmulF32 whole;
  whole.m = product.m;
  whole.n = product.weight.n;
  whole.k = product.weight.k;
  whole.a = product.x;
  whole.a_row = product.x_row;
  whole.a_col = product.x_col;
  whole.packed_b = reinterpret_cast<const float*>(product.weight.floats->data());
  whole.c = product.out;
  whole.c_row = product.out_row;
  whole.epilogue = product.epilogue;
  return whole;
}

size_t row_parts(const kernels::MatmulKernels& matmul, size_t m, size_t threads) {
  // About the rows whose left operand a kernel keeps in the cache at a time.
  constexpr size_t kPartTiles = 18;
  const size_t tiles = (m + matmul.tile_rows - 1) / matmul.tile_rows;
  if (tiles < 8 * threads) return 0;
  return threads * std::max<size_t>(1, (tiles + kPartTiles * threads / 2) / (kPartTiles * threads));
}

std::pair<size_t, size_t> part_rows(const kernels::MatmulKernels& matmul, size_t m, size_t parts,
                                    size_t part) {
  const size_t tiles = (m + matmul.tile_rows - 1) / matmul.tile_rows;
  return {std::min(m, tiles * part / parts * matmul.tile_rows),
          std::min(m, tiles * (part + 1) / parts * matmul.tile_rows)};
}

void run_product(const KernelTable& table, const PackedProduct& product, ThreadPool& pool,
                 Scratch& scratch) {
  const kernels::MatmulKernels& matmul = table.matmul;
  const auto threads = static_cast<size_t>(pool.threads());
  if (threads > 1 && row_parts(matmul, product.m, threads) != 0) {
    return run_product(table, product, pool, scratch, [](int64_t, int64_t) {});
  }
  const kernels::MatmulF32 whole = matmul_of(product);
  const size_t each = aligned(matmul.scratch_bytes(whole.k));
  std::byte* memory = scratch.get(each * threads);
  const size_t parts = kernels::matmul_parts(matmul, whole.m, whole.n, whole.k, threads);
  pool.run(static_cast<int64_t>(parts), [&](int64_t part, int worker) {
    matmul.f32(whole,
               kernels::matmul_tile(matmul, whole.m, whole.n, parts, static_cast<size_t>(part)),
               memory + static_cast<size_t>(worker) * each);
  });
}

namespace {

constexpr size_t kMaxWidened = 8;

void convert(ThreadPool& pool, DType from, const std::byte* x, DType to, std::byte* y, int64_t n) {
  split(pool, n, kGrain, [&](int64_t begin, int64_t end, int) {
    const auto skip = static_cast<size_t>(begin);
    kernels::convert(element_of(from), x + skip * dtype_bytes(from), element_of(to),
                     y + skip * dtype_bytes(to), end - begin);
  });
}

class WidenedStep : public Step {
 public:
  explicit WidenedStep(std::unique_ptr<Step> inner) : inner_(std::move(inner)) {}

  bool reads(size_t index) const override { return inner_->reads(index); }
  StepWork work(const StepCall& call) const override { return inner_->work(call); }

  Status run(const StepCall& call) const override {
    std::array<View, kMaxWidened> views;
    std::array<const View*, kMaxWidened> operands{};
    const size_t count = call.operands.size();
    const auto widens = [&](size_t index) {
      return call.operands[index] != nullptr && is_half(call.operands[index]->dtype);
    };
    View result = call.result;
    result.dtype = DType::F32;
    size_t bytes = aligned(result.byte_size());
    for (size_t index = 0; index < count; ++index) {
      if (widens(index)) {
        bytes += aligned(static_cast<size_t>(call.operands[index]->elements()) * sizeof(float));
      }
    }
    std::byte* next = call.scratch.get(bytes);
    result.data = next;
    next += aligned(result.byte_size());
    for (size_t index = 0; index < count; ++index) {
      operands[index] = call.operands[index];
      if (!widens(index)) continue;
      views[index] = *call.operands[index];
      views[index].dtype = DType::F32;
      views[index].data = next;
      next += aligned(views[index].byte_size());
      convert(call.pool, call.operands[index]->dtype, call.operands[index]->data, DType::F32,
              views[index].data, views[index].elements());
      operands[index] = &views[index];
    }
    CAPRA_TRY(inner_->run({.operands = std::span<const View* const>(operands).first(count),
                           .result = result,
                           .pool = call.pool,
                           .scratch = call.scratch.inner()}));
    convert(call.pool, DType::F32, result.data, call.result.dtype, call.result.data,
            result.elements());
    return {};
  }

 private:
  std::unique_ptr<Step> inner_;
};

}  // namespace

Result<std::unique_ptr<Step>> make_widened(const StepRequest& request, const KernelTable& table,
                                           MakeCpuStep make) {
  const size_t count = request.operands.size();
  CAPRA_CHECK(count <= kMaxWidened);
  std::vector<TensorType> types(count);
  std::vector<Array> arrays(count);
  std::vector<const TensorType*> type_refs(count, nullptr);
  std::vector<const Array*> array_refs(count, nullptr);
  for (size_t index = 0; index < count; ++index) {
    if (request.operands[index] == nullptr) continue;
    types[index] = *request.operands[index];
    type_refs[index] = &types[index];
    const Array* known = request.constants[index];
    array_refs[index] = known;
    if (!is_half(types[index].dtype)) continue;
    types[index].dtype = DType::F32;
    if (known == nullptr) continue;
    arrays[index] = Array::zeros(DType::F32, known->sizes());
    convert(request.pool, known->dtype(), known->data(), DType::F32, arrays[index].mutable_data(),
            known->elements());
    array_refs[index] = &arrays[index];
  }
  Node node = request.node;
  node.type.dtype = DType::F32;
  CAPRA_ASSIGN(std::unique_ptr<Step> inner, make({.node = node,
                                                  .operands = type_refs,
                                                  .constants = array_refs,
                                                  .row = request.row,
                                                  .pool = request.pool,
                                                  .memory = request.memory,
                                                  .reused = request.reused},
                                                 table));
  return std::unique_ptr<Step>(std::make_unique<WidenedStep>(std::move(inner)));
}

}  // namespace capra::cpu
