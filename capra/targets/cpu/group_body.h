// Reading the body of a group: which node computes what from which operand.
#pragma once

#include <vector>

#include "capra/ir/graph.h"
#include "capra/ir/structural_ops.h"

namespace capra::cpu {

class GroupBody {
 public:
  explicit GroupBody(const Graph& graph) : graph_(graph), ordinal_(graph.nodes().size(), -1) {
    int next = 0;
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (graph.node(id).op == &kInput) ordinal_[static_cast<size_t>(id)] = next++;
    }
  }

  const Node& node(NodeId id) const { return graph_.node(id); }
  bool is(NodeId id, const OpDef& op) const { return id != kAbsent && node(id).op == &op; }
  template <class A>
  A attrs(NodeId id) const {
    return node(id).attrs_as<A>();
  }
  /// The node of the one output.
  NodeId result() const { return node(graph_.outputs().front()).operands.front(); }
  bool has(NodeId id, size_t index) const {
    const std::vector<NodeId>& operands = node(id).operands;
    return index < operands.size() && operands[index] != kAbsent;
  }
  /// Which operand of the group the node's operand is; -1 if it is computed in the body.
  int operand(NodeId id, size_t index) const {
    return ordinal_[static_cast<size_t>(node(id).operands[index])];
  }
  /// The same for an operand that may be absent: `found` stays -1 then. False if it is computed.
  bool optional_operand(NodeId id, size_t index, int& found) const {
    if (!has(id, index)) return true;
    found = operand(id, index);
    return found >= 0;
  }
  /// Which operand of the group a node is; -1 if it is computed.
  int ordinal(NodeId id) const { return ordinal_[static_cast<size_t>(id)]; }

 private:
  const Graph& graph_;
  std::vector<int> ordinal_;
};

}  // namespace capra::cpu
