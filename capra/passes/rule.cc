// The one loop over nodes and rules.
#include "capra/passes/rule.h"

#include <string>

namespace capra {
namespace {

std::string describe(const GraphRewriter& rewriter, NodeId old) {
  const Graph& result = rewriter.result();
  const NodeId value = rewriter.mapped(old);
  return std::string(rewriter.source().node(old).op->name) + " -> " +
         std::string(result.node(value).op->name);
}

}  // namespace

Result<Graph> apply_rules(const Graph& graph, PassContext& context, std::string_view pass,
                          std::span<const Rule> rules) {
  GraphRewriter rewriter(graph);
  try {
    for (NodeId id = 0; id < graph.size(); ++id) {
      for (const Rule& rule : rules) {
        if (rewriter.is_mapped(id)) break;
        if (!rule.apply(rewriter, id)) continue;
        context.report.rewrites.push_back({std::string(pass), std::string(rule.name),
                                           node_label(graph, id), describe(rewriter, id)});
      }
      rewriter.copy(id);
    }
  } catch (const Error& error) {
    return fail(error.diagnostic());
  }
  return std::move(rewriter).finish();
}

}  // namespace capra
