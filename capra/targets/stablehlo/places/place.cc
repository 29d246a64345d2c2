// Nodes that were given have names, so a step is followed to the one it is a step of.
#include "capra/targets/stablehlo/places/place.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "capra/base/number_text.h"
#include "capra/passes/pass.h"

namespace capra::stablehlo {
namespace {

bool has_dim(const TensorType* type, const Dim& dim) {
  return type != nullptr && std::ranges::find(type->shape.dims(), dim) != type->shape.dims().end();
}

}  // namespace

Graph with_numbers_as_names(Graph graph) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    std::string& name = graph.node(id).name;
    if (name.empty()) name = number_text(id);
  }
  return graph;
}

std::string place_of(const Graph& graph, NodeId id) {
  const std::vector<std::vector<NodeId>> users = graph.users();
  for (NodeId of = id;;) {
    const Node& node = graph.node(of);
    if (!node.path.empty() || !node.name.empty()) return node_label(graph, of);
    const std::vector<NodeId>& next = users[static_cast<size_t>(of)];
    if (next.empty()) return node_label(graph, id);
    of = next.front();
  }
}

Diagnostic placed(Diagnostic refusal, const Graph& graph, NodeId id) {
  if (refusal.at.empty()) refusal.at = place_of(graph, id);
  return refusal;
}

void check_dims_of_body(const Graph& graph, NodeId id, std::string_view reason_to_keep) {
  const Node& node = graph.node(id);
  const std::vector<const TensorType*> operands = operand_types(graph, node.operands);
  for (size_t i = 0; i < node.attrs.size(); ++i) {
    const auto* shape = std::get_if<Shape>(&node.attrs[i]);
    if (shape == nullptr) continue;
    for (const Dim& dim : shape->dims()) {
      const auto has_it = [&](const TensorType* type) { return has_dim(type, dim); };
      if (dim.is_static() || std::ranges::any_of(operands, has_it)) continue;
      std::string message(node.op->name);
      message += " cannot stay whole: its attribute ";
      message += node.op->attrs.fields[i].name;
      message += " has the dim " + dim.symbol() +
                 ", which none of its operands has, and the body of a composite knows only these";
      std::string help = "do not keep ";
      help += node.op->name;
      help += " whole (";
      help += reason_to_keep;
      help += "), or give the dim a number, in a model with --length N";
      throw Error({"symbol-unbound", std::move(message), place_of(graph, id), std::move(help)});
    }
  }
}

}  // namespace capra::stablehlo
