// What the contract's blocks of 64 cost: the inner loop of the matrix product beside the same loop
// with one running sum, one tile after the other, all operands in the first two caches.
//   build/release/bench/block_rule_bench
// `share` is the best rate as a share of the fused multiply-add peak that the thread reached just
// before; `cost` is how much longer the blocks take, from the same calls in turns.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "bench/thread_seconds.h"
#include "capra/ir/array.h"
#include "capra/targets/cpu/kernels/fma_peak.h"
#include "capra/targets/cpu/kernels/kernel_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/block_rule/block_rule_bench.cc"
// clang-format off
#include "capra/targets/cpu/kernels/foreach_isa.h"
#include "capra/targets/cpu/kernels/matmul_block.h"
// clang-format on

#ifndef CAPRA_BENCH_BLOCK_RULE_H_
#define CAPRA_BENCH_BLOCK_RULE_H_
namespace capra::kernels {

// A tile of `rows` by `columns` over k: a is [k / 64, rows, 64], b is [k, columns], and total is
// [rows, 64].
struct BlockRule {
  Isa isa;
  size_t rows;
  size_t columns;
  void (*blocks)(const float* a, const float* b, size_t k, float* total);
  void (*running)(const float* a, const float* b, size_t k, float* total);
};

}  // namespace capra::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace capra::kernels {
namespace HWY_NAMESPACE {
namespace {

HWY_NOINLINE void blocks(const float* a, const float* b, size_t k, float* total) {
  tile_product<F32x16, kTileVectors, kTileRows>(a, b, k, b, 0, total);
}

HWY_NOINLINE void running(const float* a, const float* b, size_t k, float* total) {
  using Cols = Columns<F32x16, kTileVectors>;
  Sums<F32x16, kTileVectors, kTileRows> sums;
  sums.start(a, Cols::load(b));
  size_t i = 1;
  for (size_t begin = 0; begin < k; begin += kBlock) {
    for (; i < kBlock; ++i) {
      ++a;
      b += kPanel;
      __builtin_prefetch(b + kNearBytes / sizeof(*b));
      sums.step(a, Cols::load(b));
    }
    a += (kTileRows - 1) * kBlock;
    i = 0;
  }
  sums.put(total);
}

}  // namespace

BlockRule block_rule() { return {kIsa, kTileRows, kPanel, blocks, running}; }

}  // namespace HWY_NAMESPACE
}  // namespace capra::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace capra::kernels {
namespace {

std::vector<BlockRule> rules() {
  std::vector<BlockRule> all;
#if HWY_TARGETS & HWY_AVX3
  all.push_back(N_AVX3::block_rule());
#endif
#if HWY_TARGETS & HWY_AVX2
  all.push_back(N_AVX2::block_rule());
#endif
#if HWY_TARGETS & HWY_NEON
  all.push_back(N_NEON::block_rule());
#endif
  std::erase_if(all, [](const BlockRule& rule) { return kernel_table(rule.isa) == nullptr; });
  return all;
}

template <class Call>
double seconds_of(const Call& call) {
  const double begin = bench::thread_seconds();
  for (int repeat = 0; repeat < 100; ++repeat) call();
  return (bench::thread_seconds() - begin) / 100;
}

void run(benchmark::State& state, const BlockRule& rule) {
  const auto k = static_cast<size_t>(state.range(0));
  const auto floats = [](size_t count, float value) {
    const std::vector<int64_t> sizes{static_cast<int64_t>(count)};
    return Array::of<float>(DType::F32, sizes, std::vector<float>(count, value));
  };
  const Array a = floats(rule.rows * k, 0.25F);
  const Array b = floats(rule.columns * k, 0.5F);
  Array total = floats(rule.rows * 64, 0.0F);
  const double peak = measure_fma_peak(rule.isa, 0.02);
  auto* sums = reinterpret_cast<float*>(total.mutable_data());
  double blocks = 1e300;
  double running = 1e300;
  for (auto _ : state) {
    const auto call = [&](auto function) {
      return [&, function] { function(a.as<float>().data(), b.as<float>().data(), k, sums); };
    };
    blocks = std::min(blocks, seconds_of(call(rule.blocks)));
    running = std::min(running, seconds_of(call(rule.running)));
  }
  const double flops = 2.0 * static_cast<double>(rule.rows * rule.columns * k);
  state.counters["share"] = flops / blocks / peak;
  state.counters["share_running"] = flops / running / peak;
  state.counters["cost"] = blocks / running - 1;
}

}  // namespace

void register_rules() {
  for (const BlockRule& rule : rules()) {
    benchmark::RegisterBenchmark(isa_name(rule.isa),
                                 [rule](benchmark::State& state) { run(state, rule); })
        ->ArgName("k")
        ->Arg(384)
        ->Arg(1536);
  }
}

}  // namespace capra::kernels

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  capra::kernels::register_rules();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
#endif  // HWY_ONCE
