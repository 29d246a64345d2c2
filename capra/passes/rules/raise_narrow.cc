// An f16 or bf16 op out of its widened form: operands to f32, the op there, one rounding at the
// end. That is what these ops mean on narrow floats.
#include <algorithm>

#include "capra/ops/attention.h"
#include "capra/ops/convert.h"
#include "capra/ops/gelu.h"
#include "capra/ops/layer_norm.h"
#include "capra/ops/softmax.h"
#include "capra/passes/passes.h"
#include "capra/passes/rule.h"

namespace capra {
namespace {

constexpr const OpDef* kWideningOps[] = {&kAttention, &kGelu, &kLayerNorm, &kSoftmax};

// convert(op(convert(x) to f32, ...)) = op(x, ...) for x and result of one narrow float
bool narrow_op(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  const DType narrow = graph.node(root).type.dtype;
  if (!is_op(graph, root, kConvert) || (narrow != DType::F16 && narrow != DType::BF16))
    return false;
  const NodeId wide = operand(graph, root, 0);
  const Node& node = graph.node(wide);
  if (std::ranges::find(kWideningOps, node.op) == std::end(kWideningOps)) return false;
  if (node.type.dtype != DType::F32 || !rewriter.used_once(wide)) return false;
  std::vector<NodeId> operands = node.operands;
  for (NodeId& id : operands) {
    if (id == kAbsent || !is_float(graph.node(id).type.dtype)) continue;
    if (!is_op(graph, id, kConvert)) return false;
    id = operand(graph, id, 0);
    if (graph.node(id).type.dtype != narrow) return false;
  }
  rewriter.splice(root, [&] {
    std::vector<Tensor> tensors;
    tensors.reserve(operands.size());
    for (const NodeId id : operands) tensors.push_back(rewriter.tensor(id));
    return apply(*node.op, tensors, node.attrs);
  });
  rewriter.keep_notes(wide, rewriter.mapped(root));
  return true;
}

constexpr Rule kRules[] = {{"narrow-op", narrow_op}};

Result<Graph> run(const Graph& graph, PassContext& context) {
  return apply_rules(graph, context, kRaiseNarrow.name, kRules);
}

}  // namespace

const Pass kRaiseNarrow{"raise-narrow",
                        "Recognizes f16 and bf16 ops spelled as f32 ops between conversions.",
                        NumericEffect::Meaning, run};

}  // namespace capra
