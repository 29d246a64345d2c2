// Floats that are too narrow for the target: an op that it runs in f32 but not in f16 or bf16 is
// computed in f32 between conversions. Its result is rounded once, as each op on these dtypes is.
#include <algorithm>

#include "capra/ir/structural_ops.h"
#include "capra/ops/convert.h"
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/match.h"
#include "capra/passes/passes.h"
#include "capra/passes/rewrite_forms.h"

namespace capra {
namespace {

TensorType in_f32(TensorType type) {
  if (is_half(type.dtype)) type.dtype = DType::F32;
  return type;
}

bool can_convert(const PassContext& context, const TensorType& from, const TensorType& to) {
  const TensorType* const operands[] = {&from};
  return takes(*context.table, context.granularity, kConvert, operands,
               pack(ConvertAttrs{to.dtype}), to);
}

/// Whether the target has no row for the node, and has all that the widened node needs.
bool should_widen(const Graph& graph, const Node& node, const PassContext& context) {
  if (node.op->infer == nullptr || node.op == &kOutput || node.op == &kGroup) return false;
  const std::vector<const TensorType*> types = operand_types(graph, node.operands);
  if (takes(*context.table, context.granularity, *node.op, types, node.attrs, node.type))
    return false;
  std::vector<TensorType> wide;
  wide.reserve(types.size());
  std::vector<const TensorType*> refs;
  bool any_narrow = false;
  for (const TensorType* type : types) {
    refs.push_back(type == nullptr ? nullptr : &wide.emplace_back(in_f32(*type)));
    if (type == nullptr || !is_half(type->dtype)) continue;
    any_narrow = true;
    if (!can_convert(context, *type, wide.back())) return false;
  }
  if (!any_narrow) return false;
  const Result<TensorType> result = infer_type(*node.op, refs, node.attrs);
  if (!result.ok() || *result != in_f32(node.type)) return false;
  if (*result != node.type && !can_convert(context, *result, node.type)) return false;
  return takes(*context.table, context.granularity, *node.op, refs, node.attrs, *result);
}

bool any_to_widen(const Graph& body, const PassContext& context) {
  return std::ranges::any_of(body.nodes(), [&](const Node& node) {
    return node.op == &kGroup ? any_to_widen(*node.body, context)
                              : should_widen(body, node, context);
  });
}

Tensor widened_call(const GraphRewriter& rewriter, const Node& node) {
  std::vector<Tensor> operands;
  operands.reserve(node.operands.size());
  for (const NodeId operand : node.operands) {
    const Tensor given = operand == kAbsent ? Tensor() : rewriter.tensor(operand);
    operands.push_back(given && is_half(given.dtype()) ? convert(given, DType::F32) : given);
  }
  const Tensor result = apply(*node.op, operands, node.attrs, rewriter.context());
  return result.dtype() == node.type.dtype ? result : convert(result, node.type.dtype);
}

Result<Graph> run(const Graph& graph, PassContext& context) {
  if (context.table == nullptr) return graph;
  GraphRewriter rewriter(graph);
  try {
    for (NodeId id = 0; id < graph.size(); ++id) {
      const Node& node = graph.node(id);
      if (node.op == &kGroup && any_to_widen(*node.body, context)) {
        rewriter.inline_group(id);  // its label would promise what is not there; next round widens
      } else if (should_widen(graph, node, context)) {
        rewriter.splice(id, [&] { return widened_call(rewriter, node); });
        context.report.rewrites.push_back(
            {std::string(kWidenDtypes.name), "narrow-float", node_label(graph, id),
             forms_note(form_text(node), form_text(node) + " in f32")});
      } else {
        rewriter.copy(id);
      }
    }
  } catch (const Error& error) {
    return fail(error.diagnostic());
  }
  return std::move(rewriter).finish();
}

}  // namespace

const Pass kWidenDtypes{"widen-dtypes",
                        "Computes in f32, between conversions, what the target runs in f32 but not "
                        "in f16 or bf16.",
                        NumericEffect::Meaning, run};

}  // namespace capra
