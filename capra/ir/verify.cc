// The rules that every graph obeys.
#include "capra/ir/verify.h"

#include <algorithm>
#include <set>

#include "capra/base/number_text.h"
#include "capra/ir/schedule.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/text/values.h"

namespace capra {
namespace {

std::string node_place(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  std::string place = graph.name() + ": node " + number_text(id);
  if (node.op != nullptr) place += " (" + std::string(node.op->name) + ")";
  if (!node.path.empty()) place += " @ " + node.path;
  return place;
}

std::string operand_word(size_t index) { return "operand " + number_text(index); }

/// One graph and the names seen in it so far.
class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  Status run() {
    for (NodeId id = 0; id < graph_.size(); ++id) CAPRA_TRY(check(id));
    return {};
  }

 private:
  Failure invalid(NodeId id, std::string message) const {
    return fail("graph-invalid", std::move(message), node_place(graph_, id));
  }

  Status check(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.op == nullptr) return invalid(id, "the node has no op");
    CAPRA_TRY(check_operands(id, node));
    CAPRA_TRY(check_attrs(id, node));
    CAPRA_TRY(check_symbols(id, node));
    CAPRA_TRY(check_names(id, node));
    CAPRA_TRY(schedule_of(node, node_place(graph_, id)));
    if ((node.body != nullptr) != (node.op == &kGroup)) {
      return invalid(id, node.body != nullptr ? "only a group has a body" : "a group has no body");
    }
    return node.op == &kGroup ? check_group(id, node) : check_type(id, node);
  }

  Status check_operands(NodeId id, const Node& node) {
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const NodeId operand = node.operands[i];
      if (operand == kAbsent) continue;
      if (operand < 0 || operand >= id) {
        return invalid(id, operand_word(i) + " is node " + number_text(operand) +
                               ", which does not come before its user");
      }
      if (graph_.node(operand).op == &kOutput) {
        return invalid(id, operand_word(i) + " is an output, which is no value");
      }
    }
    if (!node.operands.empty() && node.operands.back() == kAbsent) {
      return invalid(id, "the last operand is absent; absent operands at the end are left out");
    }
    return {};
  }

  Status check_attrs(NodeId id, const Node& node) {
    const auto fields = node.op->attrs.fields;
    if (node.attrs.size() != fields.size()) {
      return invalid(id, "the record has " + number_text(fields.size()) + " attributes, the node " +
                             number_text(node.attrs.size()));
    }
    for (size_t i = 0; i < fields.size(); ++i) {
      const std::string name = "attribute '" + std::string(fields[i].name) + "'";
      // The alternatives of AttrValue stand in the order of AttrKind.
      if (node.attrs[i].index() != static_cast<size_t>(fields[i].kind)) {
        return invalid(id, name + " is not of kind " + std::string(attr_kind_name(fields[i].kind)));
      }
      const Array* array = std::get_if<Array>(&node.attrs[i]);
      if (array != nullptr && !*array) return invalid(id, name + " holds no data");
    }
    return {};
  }

  Status check_symbols(NodeId id, const Node& node) {
    for (const Dim& dim : node.type.shape.dims()) {
      if (!dim.is_static() && !is_identifier(dim.symbol())) {
        return invalid(id, "the dim " + quoted(dim.symbol()) + " is not an identifier");
      }
      if (dim.is_static() && dim.size() < 0) {
        return invalid(id, "a dim of " + node.type.text() + " is negative");
      }
    }
    return {};
  }

  Status check_names(NodeId id, const Node& node) {
    if (node.op != &kInput && node.op != &kParameter && node.op != &kOutput) return {};
    const auto& name = std::get<std::string>(node.attrs[0]);
    if (names_.emplace(node.op, name).second) return {};
    return invalid(id, "two " + std::string(node.op->name) + "s are called " + quoted(name));
  }

  Status check_type(NodeId id, const Node& node) {
    const Result<TensorType> type =
        infer_type(*node.op, operand_types(graph_, node.operands), node.attrs);
    if (!type.ok()) return invalid(id, type.error().message + " [" + type.error().code + "]");
    if (*type == node.type) return {};
    return invalid(
        id, "the node has the type " + node.type.text() + ", the record infers " + type->text());
  }

  Status check_group(NodeId id, const Node& node) {
    if (Status body = verify(*node.body); !body.ok()) {
      Diagnostic diagnostic = body.error();
      diagnostic.at = node_place(graph_, id) + " > " + diagnostic.at;
      return fail(std::move(diagnostic));
    }
    const std::vector<NodeId> inputs = node.body->inputs();
    const std::vector<NodeId> outputs = node.body->outputs();
    if (inputs.size() != node.operands.size()) {
      return invalid(id, "the body has " + number_text(inputs.size()) + " inputs, the group has " +
                             number_text(node.operands.size()) + " operands");
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (node.operands[i] == kAbsent) return invalid(id, operand_word(i) + " is absent");
      const TensorType& inside = node.body->node(inputs[i]).type;
      const TensorType& outside = graph_.node(node.operands[i]).type;
      if (inside != outside) {
        return invalid(
            id, operand_word(i) + " is " + outside.text() + ", the body's input " + inside.text());
      }
    }
    if (outputs.size() != 1) {
      return invalid(id, "the body has " + number_text(outputs.size()) + " outputs, needed one");
    }
    const TensorType& inside = node.body->node(outputs[0]).type;
    if (inside == node.type) return {};
    return invalid(
        id, "the node has the type " + node.type.text() + ", the body's output " + inside.text());
  }

  const Graph& graph_;
  std::set<std::pair<const OpDef*, std::string>> names_;
};

}  // namespace

Status verify(const Graph& graph) { return Verifier(graph).run(); }

Status verify(const Tape& tape) {
  for (size_t i = 0; i < tape.entries.size(); ++i) {
    const TapeEntry& entry = tape.entries[i];
    const auto known = [&](int32_t operand) {
      return operand >= -1 && operand < static_cast<int32_t>(i);
    };
    if (entry.op != nullptr && std::ranges::all_of(entry.operands, known)) continue;
    return fail(
        "graph-invalid",
        entry.op == nullptr ? "the entry has no op" : "an operand does not come before its user",
        tape.name + ": entry " + number_text(i) + (entry.path.empty() ? "" : " @ " + entry.path));
  }
  return verify(build_graph(tape));
}

}  // namespace capra
