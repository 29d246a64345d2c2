// The linear and the layer norm of a fused group.
#include "capra/passes/rules/linear_group.h"

namespace capra {

NodeId add_linear(GroupBuilder& group, const Graph& source, NodeId linear) {
  const NodeId x = group.input("x", operand(source, linear, 0));
  const NodeId weight = group.input("weight", operand(source, linear, 1));
  const NodeId bias = group.input("bias", operand(source, linear, 2));
  return bias == kAbsent ? group.copy(linear, {x, weight}) : group.copy(linear, {x, weight, bias});
}

NodeId add_layer_norm(GroupBuilder& group, const Graph& source, NodeId layer_norm, NodeId x) {
  const NodeId gamma = group.input("gamma", operand(source, layer_norm, 1));
  const NodeId beta = group.input("beta", operand(source, layer_norm, 2));
  std::vector<NodeId> operands{x, gamma, beta};
  while (operands.back() == kAbsent) operands.pop_back();
  return group.copy(layer_norm, std::move(operands));
}

}  // namespace capra
