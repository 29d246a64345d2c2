// Rewrite rules: a pattern with guards, and its replacement, tried at each node in order.
#pragma once

#include <span>
#include <string_view>

#include "capra/passes/graph_rewriter.h"
#include "capra/passes/match.h"
#include "capra/passes/pass.h"

namespace capra {

/// One identity. `apply` looks at node `root` of `rewriter.source()`; when the pattern and its
/// guards hold it puts the replacement into the result, so that a value stands for `root`, and
/// returns true; when not, it changes nothing and returns false. May throw `Error`.
struct Rule {
  std::string_view name;
  bool (*apply)(GraphRewriter& rewriter, NodeId root);
};

/// Tries the rules at every node that no value stands for yet, in order, and copies the node when
/// none applies. Each rule that applied is reported under `pass`.
Result<Graph> apply_rules(const Graph& graph, PassContext& context, std::string_view pass,
                          std::span<const Rule> rules);

}  // namespace capra
