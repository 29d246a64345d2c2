// Runs, once and by the target's own executor, what depends on constants only.
#include <algorithm>

#include "capra/ir/structural_ops.h"
#include "capra/ops/constant.h"
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/match.h"
#include "capra/passes/passes.h"
#include "capra/passes/rewrite_forms.h"

namespace capra {
namespace {

/// A result may take this many bytes, or as many as its operands: folding must not turn one number
/// into a table that has to be read.
constexpr size_t kMaxFoldedBytes = 4096;

/// The operands' data, if all are constants of the result graph.
std::optional<std::vector<Array>> constant_operands(const Graph& result, const Node& node) {
  std::vector<Array> operands;
  for (const NodeId operand : node.operands) {
    if (operand == kAbsent) {
      operands.emplace_back();
      continue;
    }
    if (!is_op(result, operand, kConstant)) return std::nullopt;
    operands.push_back(result.node(operand).attrs_as<ConstantAttrs>().value);
  }
  return operands;
}

bool worth_folding(const Node& node, std::span<const Array> operands) {
  const std::optional<int64_t> elements = node.type.shape.elements();
  if (!elements) return false;
  size_t given = 0;
  for (const Array& operand : operands) given += operand ? operand.byte_size() : 0;
  const size_t made = static_cast<size_t>(*elements) * dtype_bytes(node.type.dtype);
  return made <= std::max(given, kMaxFoldedBytes);
}

Result<Graph> run(const Graph& graph, PassContext& context) {
  GraphRewriter rewriter(graph);
  for (NodeId id = 0; id < graph.size(); ++id) {
    Node node = graph.node(id);
    const bool structural = node.op == &kInput || node.op == &kParameter || node.op == &kOutput ||
                            node.op == &kGroup || node.op == &kConstant;
    for (NodeId& operand : node.operands) operand = rewriter.mapped(operand);
    const std::optional<std::vector<Array>> operands =
        structural || !context.evaluate ? std::nullopt : constant_operands(rewriter.result(), node);
    if (!operands || !worth_folding(node, *operands)) {
      rewriter.copy(id);
      continue;
    }
    Result<Array> value = context.evaluate(*node.op, *operands, node.attrs);
    // The target's own passes may still replace the op; legalization refuses what is left of it.
    if (!value.ok() && value.error().code == "op-not-legal") {
      rewriter.copy(id);
      continue;
    }
    if (!value.ok()) return value.take_failure();
    context.report.rewrites.push_back({std::string(kFoldConstants.name), "constant-operands",
                                       node_label(graph, id),
                                       forms_note(form_text(node), "constant")});
    Node folded{.op = &kConstant,
                .operands = {},
                .attrs = pack(ConstantAttrs{*std::move(value)}),
                .type = node.type};
    folded.path = std::move(node.path);
    rewriter.keep_notes(id, rewriter.append_for(id, std::move(folded)));
  }
  return std::move(rewriter).finish();
}

}  // namespace

const Pass kFoldConstants{"fold-constants",
                          "Runs what depends on constants only, with the target's own kernels, "
                          "where the result is small.",
                          NumericEffect::Exact, run};

}  // namespace capra
