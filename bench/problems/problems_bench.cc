// Each problem line on each instruction set, one thread:
//   build/release/bench/problems_bench --benchmark_filter='avx512/linear.*rows=12/'
// `best_us` is the best single call. Of problems with products, `best_share` is the best call's
// rate as a share of the fused multiply-add peak that the same thread reached just before.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "bench/problems/problem.h"
#include "bench/thread_seconds.h"
#include "capra/targets/cpu/kernels/fma_peak.h"
#include "capra/targets/cpu/target.h"

namespace capra::bench {
namespace {

void run_problem(benchmark::State& state, const Target& target, kernels::Isa isa,
                 const ProblemLine& line) {
  const Problem problem = make_problem(CAPRA_PROBLEMS, line);
  const std::unique_ptr<Executable> executable =
      compile(target, problem.graph, problem.parameters).value_or_throw();
  Workspace workspace = executable->make_workspace();
  const std::vector<InputRef> inputs(problem.inputs.begin(), problem.inputs.end());
  std::vector<Array> results = executable->run(workspace, inputs).value_or_throw();
  const std::vector<OutputRef> outputs(results.begin(), results.end());

  workspace.set_timing(true);  // for the flops
  executable->run(workspace, inputs, outputs).or_throw();
  workspace.set_timing(false);
  double flops = 0;
  double bytes = 0;
  for (const ExecutionRecord& record : workspace.records()) {
    flops += record.flops;
    bytes += record.bytes;
  }

  const double peak = flops > 0 ? kernels::measure_fma_peak(isa, 0.02) : 0;
  double best = 1e300;
  for (auto _ : state) {
    const double begin = thread_seconds();
    executable->run(workspace, inputs, outputs).or_throw();
    best = std::min(best, thread_seconds() - begin);
  }
  state.counters["best_us"] = best * 1e6;
  state.counters["best_GB/s"] = bytes / best * 1e-9;
  if (flops > 0) state.counters["best_share"] = flops / best / peak;
}

void register_all() {
  for (const ProblemLine& line : read_problem_lines(CAPRA_PROBLEMS)) {
    for (const kernels::Isa isa :
         {kernels::Isa::Avx512, kernels::Isa::Avx2, kernels::Isa::Neon, kernels::Isa::Portable}) {
      const Target* target = cpu::target_for(isa);
      if (target == nullptr) continue;
      benchmark::RegisterBenchmark(
          (std::string(kernels::isa_name(isa)) + "/" + line.name()).c_str(),
          [target, isa, line](benchmark::State& state) { run_problem(state, *target, isa, line); });
    }
  }
}

}  // namespace
}  // namespace capra::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  try {
    capra::bench::register_all();
    benchmark::RunSpecifiedBenchmarks();
  } catch (const capra::Error& error) {
    std::fprintf(stderr, "%s\n", to_text(error.diagnostic()).c_str());
    return 2;
  }
  benchmark::Shutdown();
  return 0;
}
