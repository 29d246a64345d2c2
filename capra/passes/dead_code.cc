// Drops what no output needs. Inputs stay: they are what callers bind.
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/match.h"
#include "capra/passes/passes.h"
#include "capra/passes/rewrite_forms.h"

namespace capra {
namespace {

Result<Graph> run(const Graph& graph, PassContext& context) {
  const std::vector<bool> live = live_nodes(graph);
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
