// The lists of passes, and running a list to its fixed point.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "capra/passes/pass.h"

namespace capra {

using PassList = std::span<const Pass* const>;

/// Every pass that `capra opt --passes` can name, sorted by name.
PassList all_passes();
/// The pass called `name`, or null.
const Pass* find_pass(std::string_view name);
/// What is done for every target before its own passes; all exact.
PassList core_passes();
/// What the cpu runs: the core passes, legalizing by its table, and its fusions. All are exact;
/// `legalize` decomposes just what the eager sink decomposes too.
PassList cpu_passes();
/// For graphs from outside: recognizes ops spelled in primitives.
PassList raising_passes();

struct PipelineOptions {
  /// Rounds of the whole list; a list that still changes the graph then is a bug. 0: 16, and one
  /// for each node, because a rule that looks at neighbours may need that for a chain.
  int max_rounds = 0;
  bool verify_each = false;  ///< runs the verifier on what comes in and after each pass
  /// Called after each pass that changed the graph.
  std::function<void(const Pass& pass, const Graph& graph)> after_change = nullptr;
};

/// Runs the list again and again until no pass changes the graph. `context.report` grows. Fails
/// with the diagnostic of a pass, of the verifier, or with `passes-unsettled`.
Result<Graph> run_passes(const Graph& graph, PassList passes, PassContext& context,
                         const PipelineOptions& options = {});

}  // namespace capra
