// The one loop over nodes and rules.
#include "capra/passes/rule.h"

#include <string>

#include "capra/passes/rewrite_forms.h"

namespace capra {

Result<Graph> apply_rules(const Graph& graph, PassContext& context, std::string_view pass,
                          std::span<const Rule> rules) {
  GraphRewriter rewriter(graph);
  try {
    for (NodeId id = 0; id < graph.size(); ++id) {
      for (const Rule& rule : rules) {
        if (rewriter.is_mapped(id)) break;
        if (!rule.apply(rewriter, id)) continue;
        const Node& now = rewriter.result().node(rewriter.mapped(id));
        context.report.rewrites.push_back({std::string(pass), std::string(rule.name),
                                           node_label(graph, id),
                                           forms_note(form_text(graph.node(id)), form_text(now))});
      }
      rewriter.copy(id);
    }
  } catch (const Error& error) {
    return fail(error.diagnostic());
  }
  return std::move(rewriter).finish();
}

}  // namespace capra
