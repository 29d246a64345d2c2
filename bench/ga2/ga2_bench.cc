// How fast the GA-2 simulator runs, and how long its compiler takes for the largest graphs.
//   build/release/bench/ga2_bench
// `cycles_per_second` are simulated cycles by the thread's CPU time, checks of the program
// included.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/thread_seconds.h"
#include "capra/io/json.h"
#include "capra/targets/ga2/network_json.h"
#include "capra/targets/ga2/sim/run.h"

namespace capra::ga2 {
namespace {

// A product of 32 x 64 by 64 x 32 in tiles of 4 x 64 by 64 x 4, four times.
std::vector<Instruction> products(bool transpose_b) {
  constexpr uint32_t kSide = 32;
  constexpr uint32_t kInner = 64;
  std::vector<Instruction> program{Load{0, 0, kSide * kInner}, Load{1024, 1024, kSide * kInner}};
  for (int repeat = 0; repeat < 4; ++repeat) {
    for (uint32_t row = 0; row < kSide; row += 4) {
      for (uint32_t column = 0; column < kSide; column += 4) {
        program.emplace_back(Multiply{.dst = 3072 + row * 32 + column,
                                      .a = row * kInner % 1024,
                                      .b = 1024 + (transpose_b ? column * kInner : column),
                                      .m = 4,
                                      .k = kInner,
                                      .n = 4,
                                      .tb = transpose_b ? 1U : 0U,
                                      .lda = kInner,
                                      .ldb = transpose_b ? kInner : kSide,
                                      .ldc = kSide});
      }
    }
  }
  program.emplace_back(Halt{});
  return program;
}

void simulate(benchmark::State& state, bool transpose_b) {
  const std::vector<Instruction> program = products(transpose_b);
  std::vector<uint32_t> memory(8192);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint32_t>(i * 37 % 255) - 127;
  Machine machine(std::move(memory));
  const double begin = bench::thread_seconds();
  for (auto _ : state) {
    const Status status = machine.run(program);
    if (!status.ok()) state.SkipWithError("the program is illegal");
  }
  state.counters["cycles_per_second"] =
      static_cast<double>(machine.counters().total) / (bench::thread_seconds() - begin);
}

void compile_graph(benchmark::State& state, const std::string& name, Schedule schedule) {
  const std::string path = std::string(CAPRA_GA2_GRAPHS) + "/" + name + ".json";
  const Result<Json> file = read_json_file(path);
  if (!file.ok()) return state.SkipWithError("the graph cannot be read");
  Result<CompileRequest> request = read_request(*file, path);
  if (!request.ok()) return state.SkipWithError("the graph is refused");
  request->options.schedule = schedule;
  double best = 1e9;
  for (auto _ : state) {
    const double begin = bench::thread_seconds();
    const Result<Program> program =
        compile(request->network, request->calibration, request->options);
    if (!program.ok()) state.SkipWithError("the graph does not compile");
    best = std::min(best, bench::thread_seconds() - begin);
  }
  state.counters["best_ms"] = 1e3 * best;
}

void register_all() {
  for (const bool transpose_b : {false, true}) {
    benchmark::RegisterBenchmark(
        transpose_b ? "simulate/4x64x4/tb=1" : "simulate/4x64x4/tb=0",
        [transpose_b](benchmark::State& state) { simulate(state, transpose_b); });
  }
  for (const char* name : {"six_layers", "example_b_w48", "graph103"}) {
    for (const Schedule schedule : {Schedule::Author, Schedule::Fast}) {
      const std::string label =
          std::string("compile/") + name + (schedule == Schedule::Fast ? "/fast" : "/author");
      benchmark::RegisterBenchmark(label.c_str(), [=](benchmark::State& state) {
        compile_graph(state, name, schedule);
      })->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace
}  // namespace capra::ga2

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  capra::ga2::register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
