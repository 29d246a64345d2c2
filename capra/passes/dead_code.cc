// Drops what no output needs. Inputs stay: they are what callers bind.
#include "capra/ir/structural_ops.h"
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/passes.h"
#include "capra/passes/rewrite_forms.h"

namespace capra {
namespace {

Result<Graph> run(const Graph& graph, PassContext& context) {
  std::vector<bool> live(static_cast<size_t>(graph.size()), false);
  for (NodeId id = graph.size(); id-- > 0;) {
    const Node& node = graph.node(id);
    const auto index = static_cast<size_t>(id);
    live[index] = live[index] || node.op == &kOutput || node.op == &kInput;
    if (!live[index]) continue;
    for (const NodeId operand : node.operands) {
      if (operand != kAbsent) live[static_cast<size_t>(operand)] = true;
    }
  }
  GraphRewriter rewriter(graph);
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (live[static_cast<size_t>(id)]) {
      rewriter.copy(id);
    } else {
      context.report.rewrites.push_back({std::string(kDeadCode.name), "unused",
                                         node_label(graph, id),
                                         forms_note(form_text(graph.node(id)), "nothing")});
    }
  }
  return std::move(rewriter).finish();
}

}  // namespace

const Pass kDeadCode{"dead-code", "Drops nodes that no output needs; inputs stay.",
                     NumericEffect::Exact, run};

}  // namespace capra
