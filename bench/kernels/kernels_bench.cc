// Kernel by instruction set by shape. `best_share` is the best call's rate as a share of the fused
// multiply-add peak that the same thread reached just before.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "capra/targets/cpu/kernels/kernel_table.h"

namespace capra::kernels {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

// Huge pages where the system has them, as the runtime's arenas do.
struct Free {
  void operator()(float* p) const { std::free(p); }
};
using Memory = std::unique_ptr<float, Free>;
Memory memory(size_t floats, float scale = 1.0F) {
  const size_t bytes = (floats * sizeof(float) + kHugePage) / kHugePage * kHugePage;
  void* p = std::aligned_alloc(kHugePage, bytes);
  madvise(p, bytes, MADV_HUGEPAGE);
  float* x = static_cast<float*>(p);
  uint32_t state = 1;
  for (size_t i = 0; i < floats; ++i) {
    state = state * 1664525U + 1013904223U;
    x[i] = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31F * scale;
  }
  return Memory(x);
}

// CPU time: a call that was interrupted does not look slower than it is.
double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Times `call` as the benchmark does, and the best single call beside it.
template <class Call>
void measure(benchmark::State& state, const KernelTable& table, double flops, Call call) {
  const double peak = measure_fma_peak(table.isa, 0.05);
  double best = 1e300;
  for (auto _ : state) {
    const double begin = thread_seconds();
    call();
    benchmark::ClobberMemory();
    best = std::min(best, thread_seconds() - begin);
  }
  state.counters["FLOPS"] = benchmark::Counter(flops * static_cast<double>(state.iterations()),
                                               benchmark::Counter::kIsRate);
  state.counters["best_us"] = best * 1e6;
  state.counters["best_share"] = flops / best / peak;
  state.SetLabel(isa_name(table.isa));
}

struct Product {
  size_t m, n, k;
  Activation activation = Activation::None;
};

void run_matmul(benchmark::State& state, const KernelTable& table, const Product& p) {
  const Memory a = memory(p.m * p.k);
  // Results as in a network: a few units large.
  const Memory b = memory(p.n * p.k, 3.0F / std::sqrt(static_cast<float>(p.k)));
  const Memory c = memory(p.m * p.n);
  const Memory bias = memory(p.n);
  const Memory packed = memory(table.matmul.packed_floats(p.k, p.n));
  const Memory scratch = memory(table.matmul.scratch_bytes(p.k) / sizeof(float));
  table.matmul.pack_b(b.get(), 1, static_cast<ptrdiff_t>(p.k), p.k, p.n, 0, p.n, packed.get());
  MatmulF32 product;
  product.m = p.m;
  product.n = p.n;
  product.k = p.k;
  product.a = a.get();
  product.a_row = static_cast<ptrdiff_t>(p.k);
  product.packed_b = packed.get();
  product.c = c.get();
  product.c_row = static_cast<ptrdiff_t>(p.n);
  product.epilogue.bias = bias.get();
  product.epilogue.activation = p.activation;
  measure(state, table, 2.0 * static_cast<double>(p.m * p.n * p.k),
          [&] { table.matmul.f32(product, {0, p.m, 0, p.n}, scratch.get()); });
}

// Sequences of equal length, as slices of one [tokens, 3 heads head_dim] product.
void run_attention(benchmark::State& state, const KernelTable& table, size_t sequences,
                   size_t length, size_t heads, size_t head_dim, bool causal) {
  const size_t hidden = heads * head_dim;
  const Memory qkv = memory(sequences * length * 3 * hidden);
  const Memory out = memory(sequences * length * hidden);
  const Memory scratch =
      memory(table.attention.scratch_bytes(length, head_dim, head_dim) / sizeof(float));
  std::vector<int64_t> offsets;
  for (size_t s = 0; s <= sequences; ++s) offsets.push_back(static_cast<int64_t>(s * length));
  AttentionF32 args;
  args.q = qkv.get();
  args.k = qkv.get() + hidden;
  args.v = qkv.get() + 2 * hidden;
  args.q_token = args.k_token = args.v_token = static_cast<ptrdiff_t>(3 * hidden);
  args.q_head = args.k_head = args.v_head = static_cast<ptrdiff_t>(head_dim);
  args.out = out.get();
  args.out_token = static_cast<ptrdiff_t>(hidden);
  args.out_head = static_cast<ptrdiff_t>(head_dim);
  args.heads = args.kv_heads = heads;
  args.head_dim = args.value_dim = head_dim;
  args.scale = 1.0F / std::sqrt(static_cast<float>(head_dim));
  args.sequences = sequences;
  args.q_offsets = args.k_offsets = offsets.data();
  args.causal = causal;
  const double flops = 4.0 * static_cast<double>(sequences * heads * length * length * head_dim);
  measure(state, table, causal ? flops / 2 : flops, [&] {
    for (size_t s = 0; s < sequences; ++s) {
      for (size_t h = 0; h < heads; ++h) {
        table.attention.f32(args, s, h, 0, length, scratch.get());
      }
    }
  });
}

void run_unary(benchmark::State& state, const KernelTable& table, UnaryOp op) {
  const Memory x = memory(8192);
  const Memory y = memory(8192);
  for (auto _ : state) {
    table.elementwise.unary_f32(op, x.get(), y.get(), 8192);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * 8192);
  state.SetLabel(isa_name(table.isa));
}

void run_row(benchmark::State& state, const KernelTable& table, bool softmax, int64_t n) {
  const auto count = static_cast<size_t>(n);
  const Memory x = memory(count);
  const Memory y = memory(count);
  const Memory gamma = memory(count);
  for (auto _ : state) {
    if (softmax) {
      table.normalize.softmax_row(x.get(), y.get(), n);
    } else {
      table.normalize.layer_norm_row(x.get(), gamma.get(), gamma.get(), 1e-12, y.get(), n);
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * n);
  state.SetLabel(isa_name(table.isa));
}

void add_all() {
  for (const KernelTable* table : available_kernel_tables()) {
    const std::string isa = isa_name(table->isa);
    const bool slow = table->isa == Isa::Portable;
    // The products of a MiniLM layer on 8 x 256 tokens, then on few rows.
    const Product products[] = {{2048, 384, 384},  {2048, 1152, 384},
                                {2048, 1536, 384}, {2048, 1536, 384, Activation::GeluExact},
                                {2048, 384, 1536}, {2048, 1024, 1024},
                                {128, 1536, 384},  {12, 1536, 384},
                                {4, 1536, 384},    {1, 1536, 384}};
    for (const Product& p : products) {
      if (slow && p.m > 128) continue;
      const std::string name = "matmul/" + isa + "/" + std::to_string(p.m) + "x" +
                               std::to_string(p.n) + "x" + std::to_string(p.k) +
                               (p.activation == Activation::None ? "" : "/gelu");
      benchmark::RegisterBenchmark(
          name.c_str(), [table, p](benchmark::State& state) { run_matmul(state, *table, p); });
    }
    const size_t lengths[][2] = {{8, 256}, {64, 32}, {1, 512}, {128, 8}};
    for (const auto& shape : lengths) {
      for (const bool causal : {false, true}) {
        if (slow && shape[1] > 64) continue;
        const std::string name = "attention/" + isa + "/" + std::to_string(shape[0]) + "x" +
                                 std::to_string(shape[1]) + (causal ? "/causal" : "");
        const size_t sequences = shape[0];
        const size_t length = shape[1];
        benchmark::RegisterBenchmark(
            name.c_str(), [table, sequences, length, causal](benchmark::State& state) {
              run_attention(state, *table, sequences, length, 12, 32, causal);
            });
      }
    }
    const std::pair<const char*, UnaryOp> ops[] = {
        {"exp", UnaryOp::Exp},   {"log", UnaryOp::Log},        {"tanh", UnaryOp::Tanh},
        {"erf", UnaryOp::Erf},   {"gelu", UnaryOp::GeluExact}, {"gelu_tanh", UnaryOp::GeluTanh},
        {"silu", UnaryOp::Silu}, {"sqrt", UnaryOp::Sqrt}};
    for (const auto& [name, op] : ops) {
      const UnaryOp chosen = op;
      benchmark::RegisterBenchmark(
          (std::string("unary/") + isa + "/" + name).c_str(),
          [table, chosen](benchmark::State& state) { run_unary(state, *table, chosen); });
    }
    for (const int64_t n : {64, 384, 512}) {
      benchmark::RegisterBenchmark(
          ("softmax/" + isa + "/" + std::to_string(n)).c_str(),
          [table, n](benchmark::State& state) { run_row(state, *table, true, n); });
      benchmark::RegisterBenchmark(
          ("layer_norm/" + isa + "/" + std::to_string(n)).c_str(),
          [table, n](benchmark::State& state) { run_row(state, *table, false, n); });
    }
  }
}

}  // namespace
}  // namespace capra::kernels

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  capra::kernels::add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
