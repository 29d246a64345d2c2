// Hello: a layer is written once, computed at once, then traced to a graph, compiled, and run
// again.
#include <cstdio>
#include <vector>

#include "capra/ir/graph.h"
#include "capra/ir/tape.h"
#include "capra/ir/text.h"
#include "capra/ops/gelu.h"
#include "capra/ops/linear.h"
#include "capra/targets/all_targets.h"

namespace {

using namespace capra;

// gelu(x weight^T): the model. Nothing in it knows whether numbers or a record will come out.
Tensor layer(const Tensor& x) {
  const Context& context = x.context();
  const Tensor weight = context.sink().parameter(context, "weight", {DType::F32, {2, 3}});
  const Tensor y = linear(x, weight);
  return gelu(y, {.approximate = false});
}

Array array(std::vector<int64_t> sizes, const std::vector<float>& values) {
  return Array::of<float>(DType::F32, std::move(sizes), values);
}

Result<bool> hello() {
  CAPRA_ASSIGN(const Target* cpu, find_target(all_targets(), "cpu"));
  const Parameters parameters = {{"weight", array({2, 3}, {1, 0, -1, 0.5F, 0.5F, 0.5F})}};
  const Array x = array({2, 3}, {1, 2, 3, -4, 5, 0});

  // Now: a tensor that holds data computes.
  const Context eager = cpu->eager(&parameters, nullptr);
  const Array now = layer(Tensor::of_data(eager, x)).array();
  std::printf("eager    %s\n", print_array(now).c_str());

  // Later: a traced tensor records. `rows` is symbolic, so the graph serves any number of them.
  const Context trace = TraceSink::begin("hello");
  auto& sink = static_cast<TraceSink&>(trace.sink());
  sink.output(layer(sink.input(trace, "x", {DType::F32, {"rows", 3}})), "y");
  const Graph graph = build_graph(sink.take_tape());
  std::printf("%s", print_graph(graph).c_str());

  CAPRA_ASSIGN(const auto executable, compile(*cpu, graph, parameters));
  Workspace workspace = executable->make_workspace();
  const std::vector<InputRef> inputs = {x};
  CAPRA_ASSIGN(const std::vector<Array> later, executable->run(workspace, inputs));
  std::printf("compiled %s\n", print_array(later[0]).c_str());
  return later[0] == now;
}

}  // namespace

int main() {
  const Result<bool> equal = hello();
  if (!equal.ok()) {
    std::fprintf(stderr, "%s\n", to_text(equal.error()).c_str());
    return 2;
  }
  std::printf("the same bits: %s\n", *equal ? "yes" : "no");
  return *equal ? 0 : 1;
}
