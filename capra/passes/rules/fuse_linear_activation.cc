// A linear and the activation that alone reads it, as one group: every rounding point is kept.
#include <algorithm>

#include "capra/ops/gelu.h"
#include "capra/ops/linear.h"
#include "capra/ops/relu.h"
#include "capra/ops/sigmoid.h"
#include "capra/ops/silu.h"
#include "capra/ops/tanh.h"
#include "capra/passes/fusion_labels.h"
#include "capra/passes/passes.h"
#include "capra/passes/rule.h"
#include "capra/passes/rules/linear_group.h"

namespace capra {
namespace {

constexpr const OpDef* kActivations[] = {&kGelu, &kRelu, &kSilu, &kTanh, &kSigmoid};

// f(linear(x, w, b)), when nobody else reads the linear
bool linear_activation(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (std::ranges::find(kActivations, graph.node(root).op) == std::end(kActivations)) return false;
  const NodeId inner = operand(graph, root, 0);
  if (!is_op(graph, inner, kLinear) || !rewriter.used_once(inner)) return false;
  GroupBuilder group(rewriter, kFusedLinearActivation);
  const NodeId product = add_linear(group, graph, inner);
  group.finish_for(root, group.copy(root, {product}));
  return true;
}

constexpr Rule kRules[] = {{"linear-activation", linear_activation}};

Result<Graph> run(const Graph& graph, PassContext& context) {
  return apply_rules(graph, context, kFuseLinearActivation.name, kRules);
}

}  // namespace

const Pass kFuseLinearActivation{
    "fuse-linear-activation",
    "Groups a linear with the gelu, relu, silu, tanh or sigmoid that alone reads it.",
    NumericEffect::Exact, run};

}  // namespace capra
