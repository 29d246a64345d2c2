// Residuals: the add after a linear, the layer norm after an add, and all three, as one group each.
#include "capra/ops/add.h"
#include "capra/ops/layer_norm.h"
#include "capra/ops/linear.h"
#include "capra/passes/fusion_labels.h"
#include "capra/passes/passes.h"
#include "capra/passes/rule.h"
#include "capra/passes/rules/linear_group.h"

namespace capra {
namespace {

/// An add of two operands of its own type: nothing is broadcast.
bool is_plain_add(const Graph& graph, NodeId id) {
  if (!is_op(graph, id, kAdd)) return false;
  const Node& node = graph.node(id);
  return graph.node(node.operands[0]).type == node.type &&
         graph.node(node.operands[1]).type == node.type;
}

/// A linear and what is added to it.
struct LinearAdd {
  NodeId linear = kAbsent;
  NodeId residual = kAbsent;
};

/// The add as linear + residual, when only the add reads the linear. Where both sides are linears
/// the later one is taken: the other is there already.
LinearAdd match_linear_add(const GraphRewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.source();
  if (!is_plain_add(graph, id)) return {};
  LinearAdd found;
  for (const auto& [inner, residual] : both_orders(graph, id)) {
    if (!is_op(graph, inner, kLinear) || !rewriter.used_once(inner)) continue;
    if (inner > found.linear) found = {inner, residual};
  }
  return found;
}

/// Adds the linear, the residual and the add, whose operands keep their order.
NodeId build_linear_add(GroupBuilder& group, const Graph& graph, NodeId add,
                        const LinearAdd& parts) {
  const NodeId product = add_linear(group, graph, parts.linear);
  const NodeId residual = group.input("residual", parts.residual);
  const bool linear_first = operand(graph, add, 0) == parts.linear;
  return linear_first ? group.copy(add, {product, residual}) : group.copy(add, {residual, product});
}

// linear(x, w, b) + r
bool linear_add(GraphRewriter& rewriter, NodeId root) {
  const LinearAdd parts = match_linear_add(rewriter, root);
  if (parts.linear == kAbsent) return false;
  GroupBuilder group(rewriter, kFusedLinearAdd);
  group.finish_for(root, build_linear_add(group, rewriter.source(), root, parts));
  return true;
}

/// The add that a layer_norm alone reads, or `kAbsent`.
NodeId added_before(const GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, root, kLayerNorm)) return kAbsent;
  const NodeId sum = operand(graph, root, 0);
  return is_plain_add(graph, sum) && rewriter.used_once(sum) ? sum : kAbsent;
}

// layer_norm(linear(x, w, b) + r, gamma, beta)
bool linear_add_layer_norm(GraphRewriter& rewriter, NodeId root) {
  const NodeId sum = added_before(rewriter, root);
  if (sum == kAbsent) return false;
  const LinearAdd parts = match_linear_add(rewriter, sum);
  if (parts.linear == kAbsent) return false;
  const Graph& graph = rewriter.source();
  GroupBuilder group(rewriter, kFusedLinearAddLayerNorm);
  const NodeId added = build_linear_add(group, graph, sum, parts);
  group.finish_for(root, add_layer_norm(group, graph, root, added));
  return true;
}

// layer_norm(x + r, gamma, beta)
bool add_then_layer_norm(GraphRewriter& rewriter, NodeId root) {
  const NodeId sum = added_before(rewriter, root);
  if (sum == kAbsent) return false;
  const Graph& graph = rewriter.source();
  GroupBuilder group(rewriter, kFusedAddLayerNorm);
  const NodeId x = group.input("x", operand(graph, sum, 0));
  const NodeId residual = group.input("residual", operand(graph, sum, 1));
  const NodeId added = group.copy(sum, {x, residual});
  group.finish_for(root, add_layer_norm(group, graph, root, added));
  return true;
}

constexpr Rule kLinearAdd[] = {{"linear-add", linear_add}};
constexpr Rule kLinearAddLayerNorm[] = {{"linear-add-layer-norm", linear_add_layer_norm}};
constexpr Rule kAddLayerNorm[] = {{"add-layer-norm", add_then_layer_norm}};

Result<Graph> run_linear_add(const Graph& graph, PassContext& context) {
  return apply_rules(graph, context, kFuseLinearAdd.name, kLinearAdd);
}
Result<Graph> run_linear_add_layer_norm(const Graph& graph, PassContext& context) {
  return apply_rules(graph, context, kFuseLinearAddLayerNorm.name, kLinearAddLayerNorm);
}
Result<Graph> run_add_layer_norm(const Graph& graph, PassContext& context) {
  return apply_rules(graph, context, kFuseAddLayerNorm.name, kAddLayerNorm);
}

}  // namespace

const Pass kFuseLinearAdd{"fuse-linear-add", "Groups a linear with the residual added to it.",
                          NumericEffect::Exact, run_linear_add};
const Pass kFuseLinearAddLayerNorm{
    "fuse-linear-add-layer-norm",
    "Groups a linear with the residual added to it and the layer norm after that.",
    NumericEffect::Exact, run_linear_add_layer_norm};
const Pass kFuseAddLayerNorm{"fuse-add-layer-norm",
                             "Groups a residual add with the layer norm that alone reads it.",
                             NumericEffect::Exact, run_add_layer_norm};

}  // namespace capra
