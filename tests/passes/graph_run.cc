// Running small graphs on cpu.
#include "tests/passes/graph_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"
#include "capra/runtime/target.h"
#include "capra/targets/cpu/target.h"
#include "tools/golden/execute.h"

namespace capra::testing {
namespace {

Array make_array(const TensorType& type, int64_t tokens, int64_t index_bound, bool specials,
                 Random& random) {
  const Shape shape = type.shape.bind({{"tokens", tokens}}).value_or_throw();
  Array array = Array::zeros(type.dtype, shape.sizes());
  for (int64_t i = 0; i < array.elements(); ++i) {
    if (type.dtype == DType::Bool) {
      array.set_i64(i, random.below(2));
    } else if (is_integer(type.dtype)) {
      array.set_i64(i, random.below(index_bound));
    } else if (specials && random.chance(3)) {
      const std::span<const double> all = golden::special_values();
      array.set(i, all[static_cast<size_t>(random.below(static_cast<int64_t>(all.size())))]);
    } else {
      array.set(i, random.number());
    }
  }
  return array;
}

bool same_element(const Array& a, const Array& b, int64_t index) {
  const size_t size = dtype_bytes(a.dtype());
  const auto at = static_cast<size_t>(index) * size;
  if (std::memcmp(a.data() + at, b.data() + at, size) == 0) return true;
  return is_float(a.dtype()) && std::isnan(a.f64_at(index)) && std::isnan(b.f64_at(index));
}

}  // namespace

Graph parse(std::string_view text) {
  Result<Graph> graph = parse_graph(text, all_ops());
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : to_text(graph.error())) << "\n" << text;
  return graph.ok() ? *std::move(graph) : Graph();
}

GraphData make_data(const Graph& graph, int64_t tokens, int64_t index_bound, bool specials,
                    uint64_t seed) {
  Random random(seed);
  GraphData data;
  for (const NodeId id : graph.inputs()) {
    data.inputs.push_back(make_array(graph.node(id).type, tokens, index_bound, specials, random));
  }
  for (const NodeId id : graph.parameters()) {
    const Node& node = graph.node(id);
    data.parameters.emplace(node.attrs_as<ParameterAttrs>().path,
                            make_array(node.type, tokens, index_bound, specials, random));
  }
  return data;
}

PassContext cpu_context(const Parameters* parameters) {
  PassContext context{.table = cpu::kTarget.table, .target = cpu::kTarget.name};
  context.evaluate = eager_evaluator(cpu::kTarget);
  context.parameters = parameters;
  return context;
}

std::vector<Array> run_eager(const Graph& graph, const GraphData& data) {
  const Context eager = cpu::kTarget.eager(&data.parameters, nullptr);
  std::vector<Tensor> inputs;
  for (const Array& input : data.inputs) inputs.push_back(Tensor::of_data(eager, input));
  std::vector<Array> outputs;
  for (const Tensor& output : replay(graph, eager, inputs)) outputs.push_back(output.array());
  return outputs;
}

std::vector<Array> run_compiled(const Graph& graph, const GraphData& data) {
  const std::unique_ptr<Executable> executable =
      cpu::kTarget.compile(cpu::kTarget, graph, data.parameters, {}).value_or_throw();
  Workspace workspace = executable->make_workspace();
  const std::vector<InputRef> inputs(data.inputs.begin(), data.inputs.end());
  return executable->run(workspace, inputs).value_or_throw();
}

std::string difference(const std::vector<Array>& a, const std::vector<Array>& b) {
  if (a.size() != b.size()) return fmt::format("{} and {} outputs", a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].type() != b[i].type()) {
      return fmt::format("output {}: {} and {}", i, a[i].type().text(), b[i].type().text());
    }
    for (int64_t j = 0; j < a[i].elements(); ++j) {
      if (same_element(a[i], b[i], j)) continue;
      return fmt::format("output {}, element {}: {} and {}", i, j, a[i].f64_at(j), b[i].f64_at(j));
    }
  }
  return {};
}

int count_groups(const Graph& graph, std::string_view label) {
  int count = 0;
  for (const Node& node : graph.nodes()) {
    if (node.op == &kGroup && node.attrs_as<GroupAttrs>().label == label) ++count;
  }
  return count;
}

int count_ops(const Graph& graph, const OpDef& op) {
  int count = 0;
  for (const Node& node : graph.nodes()) count += node.op == &op ? 1 : 0;
  return count;
}

}  // namespace capra::testing
