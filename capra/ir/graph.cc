// Building, reading and replaying graphs.
#include "capra/ir/graph.h"

#include <utility>

#include "capra/ir/structural_ops.h"

namespace capra {
namespace {

std::vector<NodeId> nodes_of(const Graph& graph, const OpDef& op) {
  std::vector<NodeId> ids;
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (graph.node(id).op == &op) ids.push_back(id);
  }
  return ids;
}

template <class A>
NodeId find_named(const Graph& graph, const OpDef& op, std::string_view name) {
  for (const NodeId id : nodes_of(graph, op)) {
    if (graph.node(id).attrs_as<A>().name == name) return id;
  }
  return kAbsent;
}

bool equal_nodes(const Node& a, const Node& b) {
  if (a.op != b.op || a.operands != b.operands || a.type != b.type || a.name != b.name ||
      a.path != b.path || a.notes != b.notes || !attrs_equal(a.attrs, b.attrs)) {
    return false;
  }
  if ((a.body == nullptr) != (b.body == nullptr)) return false;
  return a.body == nullptr || *a.body == *b.body;
}

}  // namespace

NodeId Graph::append(Node node) {
  // Absent operands at the end are the same as operands not given; one form keeps nodes comparable.
  while (!node.operands.empty() && node.operands.back() == kAbsent) node.operands.pop_back();
  for (const NodeId operand : node.operands) CAPRA_CHECK(operand >= kAbsent && operand < size());
  nodes_.push_back(std::move(node));
  return size() - 1;
}

Result<NodeId> Graph::append_call(const OpDef& op, std::vector<NodeId> operands, Attrs attrs,
                                  std::string path) {
  std::vector<const TensorType*> types;
  types.reserve(operands.size());
  for (const NodeId operand : operands) {
    types.push_back(operand == kAbsent ? nullptr : &node(operand).type);
  }
  Result<TensorType> type = infer_type(op, types, attrs);
  if (!type.ok()) {
    Diagnostic diagnostic = type.error();
    if (!path.empty()) diagnostic.at = path + ": " + diagnostic.at;
    return fail(std::move(diagnostic));
  }
  return append({.op = &op,
                 .operands = std::move(operands),
                 .attrs = std::move(attrs),
                 .type = *std::move(type),
                 .path = std::move(path)});
}

std::vector<NodeId> Graph::inputs() const { return nodes_of(*this, kInput); }
std::vector<NodeId> Graph::parameters() const { return nodes_of(*this, kParameter); }
std::vector<NodeId> Graph::outputs() const { return nodes_of(*this, kOutput); }

NodeId Graph::find_input(std::string_view name) const {
  return find_named<InputAttrs>(*this, kInput, name);
}

NodeId Graph::find_output(std::string_view name) const {
  return find_named<OutputAttrs>(*this, kOutput, name);
}

std::vector<std::vector<NodeId>> Graph::users() const {
  std::vector<std::vector<NodeId>> users(nodes_.size());
  for (NodeId id = 0; id < size(); ++id) {
    for (const NodeId operand : node(id).operands) {
      if (operand != kAbsent) users[static_cast<size_t>(operand)].push_back(id);
    }
  }
  return users;
}

bool operator==(const Graph& a, const Graph& b) {
  if (a.name_ != b.name_ || a.nodes_.size() != b.nodes_.size()) return false;
  for (NodeId id = 0; id < a.size(); ++id) {
    if (!equal_nodes(a.node(id), b.node(id))) return false;
  }
  return true;
}

Graph build_graph(Tape tape) {
  Graph graph(std::move(tape.name));
  for (TapeEntry& entry : tape.entries) {
    std::string name = entry.op == &kInput ? unpack<InputAttrs>(entry.attrs).name : "";
    graph.append({.op = entry.op,
                  .operands = std::move(entry.operands),
                  .attrs = std::move(entry.attrs),
                  .type = std::move(entry.type),
                  .name = std::move(name),
                  .path = std::move(entry.path),
                  .notes = std::move(entry.notes)});
  }
  return graph;
}

Tape build_tape(const Graph& graph) {
  Tape tape;
  tape.name = graph.name();
  for (const Node& node : graph.nodes()) {
    CAPRA_CHECK(node.body == nullptr);
    tape.entries.push_back({node.op, node.operands, node.attrs, node.type, node.path, node.notes});
  }
  return tape;
}

std::vector<Tensor> replay(const Graph& graph, const Context& context,
                           std::span<const Tensor> inputs) {
  std::vector<Tensor> values(static_cast<size_t>(graph.size()));
  std::vector<Tensor> outputs;
  size_t next_input = 0;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    Tensor& value = values[static_cast<size_t>(id)];
    std::vector<Tensor> operands;
    operands.reserve(node.operands.size());
    for (const NodeId operand : node.operands) {
      operands.push_back(operand == kAbsent ? Tensor() : values[static_cast<size_t>(operand)]);
    }
    if (node.op == &kInput) {
      CAPRA_CHECK(next_input < inputs.size());
      value = inputs[next_input++];
    } else if (node.op == &kParameter) {
      value = context.sink().parameter(context, node.attrs_as<ParameterAttrs>().path, node.type);
    } else if (node.op == &kOutput) {
      outputs.push_back(operands.front());
    } else if (node.op == &kGroup) {
      value = replay(*node.body, context, operands).front();
    } else {
      value = apply(*node.op, operands, node.attrs, context);
    }
  }
  return outputs;
}

}  // namespace capra
