// Two sinks: one function gives numbers on the cpu, numbers in double precision, and a graph.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "capra/base/diagnostic.h"
#include "capra/interp/interp.h"
#include "capra/ir/graph.h"
#include "capra/ir/tape.h"
#include "capra/ir/text.h"
#include "capra/ops/arithmetic.h"
#include "capra/ops/softmax.h"
#include "capra/ops/tanh.h"
#include "capra/targets/all_targets.h"

namespace {

using namespace capra;

// Logits that cannot grow beyond 30, as probabilities. One step a statement keeps the order of
// nodes the same with every compiler.
Tensor capped(const Tensor& logits) {
  const Scope scope(logits.context(), "head");
  const Tensor scaled = logits / 30.0;
  const Tensor bounded = tanh(scaled);
  const Tensor capped_logits = bounded * 30.0;
  return softmax(capped_logits);
}

Result<bool> show() {
  const std::vector<float> values = {2, -1, 40, 0.5F};
  const Array logits = Array::of<float>(DType::F32, {1, 4}, values);

  CAPRA_ASSIGN(const Target* cpu, find_target(all_targets(), "cpu"));
  const Context eager = cpu->eager(nullptr, nullptr);
  const Array fast = capped(Tensor::of_data(eager, logits)).array();

  const Context oracle = interp_context();
  const Array exact = capped(Tensor::of_data(oracle, interp_array(logits))).array();
  double error = 0;
  for (int64_t i = 0; i < fast.elements(); ++i) {
    error = std::max(error, std::abs(fast.f64_at(i) - exact.f64_at(i)));
  }
  std::printf("cpu, f32, within 1e-6 of double precision: %s\n", error < 1e-6 ? "yes" : "no");

  const Context trace = TraceSink::begin("capped");
  auto& sink = static_cast<TraceSink&>(trace.sink());
  sink.output(capped(sink.input(trace, "logits", {DType::F32, {"rows", 4}})), "probabilities");
  std::printf("%s", print_graph(build_graph(sink.take_tape())).c_str());
  return error < 1e-6;
}

}  // namespace

int main() {
  const Result<bool> close = show();
  if (!close.ok()) std::fprintf(stderr, "%s\n", to_text(close.error()).c_str());
  return close.ok() && *close ? 0 : 1;
}
