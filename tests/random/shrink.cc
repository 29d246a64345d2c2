// One step after the other, the largest first, until none helps.
#include "tests/random/shrink.h"

#include <optional>
#include <vector>

#include "capra/base/number_text.h"
#include "capra/ir/structural_ops.h"

namespace capra::testing {
namespace {

// The graph with the outputs that are kept, and all that they need; `replaced` stands as its
// operand `by`, or as a new input where that is -1.
Graph cut(const Graph& graph, const std::vector<NodeId>& outputs, NodeId replaced = -1,
          int64_t by = -1) {
  const auto is_replaced = [&](NodeId id) { return id == replaced; };
  std::vector<bool> needed(static_cast<size_t>(graph.size()), false);
  for (const NodeId output : outputs) needed[static_cast<size_t>(output)] = true;
  for (NodeId id = graph.size() - 1; id >= 0; --id) {
    if (!needed[static_cast<size_t>(id)]) continue;
    const std::vector<NodeId>& operands = graph.node(id).operands;
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool stays = !is_replaced(id) || static_cast<int64_t>(i) == by;
      if (operands[i] != kAbsent && stays) needed[static_cast<size_t>(operands[i])] = true;
    }
  }
  Graph smaller(graph.name());
  std::vector<NodeId> moved(static_cast<size_t>(graph.size()), kAbsent);
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!needed[static_cast<size_t>(id)]) continue;
    Node node = graph.node(id);
    NodeId& place = moved[static_cast<size_t>(id)];
    if (is_replaced(id) && by >= 0) {
      place = moved[static_cast<size_t>(node.operands[static_cast<size_t>(by)])];
      continue;
    }
    if (is_replaced(id)) {
      const InputAttrs attrs{"cut" + number_text(id), node.type};
      place =
          smaller.append({.op = &kInput, .operands = {}, .attrs = pack(attrs), .type = node.type});
      continue;
    }
    for (NodeId& operand : node.operands) {
      if (operand != kAbsent) operand = moved[static_cast<size_t>(operand)];
    }
    place = smaller.append(std::move(node));
  }
  return smaller;
}

// Candidates, those first that leave out most.
std::vector<Graph> smaller_graphs(const Graph& graph) {
  std::vector<Graph> graphs;
  const std::vector<NodeId> outputs = graph.outputs();
  for (size_t i = 0; i < outputs.size() && outputs.size() > 1; ++i) {
    graphs.push_back(cut(graph, {outputs[i]}));
  }
  // What an output was computed from, whatever its type.
  for (const NodeId output : outputs) {
    for (const NodeId operand : graph.node(graph.node(output).operands[0]).operands) {
      if (operand == kAbsent) continue;
      Graph earlier = graph;
      earlier.node(output).operands[0] = operand;
      earlier.node(output).type = graph.node(operand).type;
      graphs.push_back(cut(earlier, outputs));
    }
  }
  // Nodes near the outputs take most with them.
  for (NodeId id = graph.size() - 1; id >= 0; --id) {
    const Node& node = graph.node(id);
    if (node.op == &kInput || node.op == &kOutput || node.op == &kParameter) continue;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      if (node.operands[i] == kAbsent || graph.node(node.operands[i]).type != node.type) continue;
      graphs.push_back(cut(graph, outputs, id, static_cast<int64_t>(i)));
    }
    graphs.push_back(cut(graph, outputs, id));
  }
  return graphs;
}

}  // namespace

Graph shrink(Graph graph, const std::function<bool(const Graph&)>& fails) {
  for (bool found = true; found;) {
    found = false;
    for (Graph& smaller : smaller_graphs(graph)) {
      if (smaller.size() > graph.size() || smaller == graph || !fails(smaller)) continue;
      // A new input in the place of a node without operands is no smaller.
      if (smaller.size() == graph.size() && smaller.inputs().size() <= graph.inputs().size()) {
        continue;
      }
      graph = std::move(smaller);
      found = true;
      break;
    }
  }
  return graph;
}

}  // namespace capra::testing
