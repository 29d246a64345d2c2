// Replaying with numbers, and legalizing by a table of primitives.
#include "tests/random/primitives.h"

#include "capra/interp/interp.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/tape.h"
#include "capra/ops/op_table.h"
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/passes.h"
#include "capra/passes/pipeline.h"

namespace capra::testing {
namespace {

const OpTable& primitive_table() {
  static const std::vector<OpRow> kRows = [] {
    std::vector<OpRow> rows;
    for (const OpDef* op : interp_primitives()) rows.push_back({.op = op});
    return rows;
  }();
  static const std::vector<const OpRow*> kAddresses = [] {
    std::vector<const OpRow*> all;
    for (const OpRow& row : kRows) all.push_back(&row);
    return all;
  }();
  static const OpTable kTable{kAddresses};
  return kTable;
}

}  // namespace

Graph with_numbers(const Graph& graph, const GraphData& data) {
  const Context context = TraceSink::begin(graph.name());
  auto& sink = static_cast<TraceSink&>(context.sink());
  std::vector<Tensor> inputs;
  const std::vector<NodeId> ids = graph.inputs();
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string name = graph.node(ids[i]).attrs_as<InputAttrs>().name;
    inputs.push_back(sink.input(context, name, data.inputs[i].type()));
  }
  const std::vector<Tensor> results = replay(graph, context, inputs);
  const std::vector<NodeId> outputs = graph.outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    sink.output(results[i], graph.node(outputs[i]).attrs_as<OutputAttrs>().name);
  }
  return build_graph(sink.take_tape());
}

Graph in_primitives(const Graph& graph) {
  PassContext context{.table = &primitive_table(), .target = "oracle"};
  const Pass* const passes[] = {&kLegalize};
  const auto every_group = [](const Graph&, NodeId) { return true; };
  return run_passes(inline_groups(graph, every_group), passes, context, {}).value_or_throw();
}

}  // namespace capra::testing
