// One golden case: the text that comes out, and the execution of both graphs.
#pragma once

#include <string>
#include <vector>

#include "capra/ir/graph.h"
#include "tools/golden/golden_file.h"

namespace capra::golden {

/// What happened with one case.
struct CaseResult {
  std::vector<std::string> failures;  ///< `file:line: words`, empty when the case passed
  std::vector<std::string> actual;    ///< the text that came out, as expected lines
  bool may_bless = false;             ///< there is a text, and execution agreed
  int executions = 0;
};

/// Runs a case on the ops of `ops`.
CaseResult run_case(const GoldenFile& file, const GoldenCase& golden_case, OpSet ops);

/// The graph with each composite replaced by its own decomposition, one level deep.
Result<Graph> decompose_once(const Graph& graph);

}  // namespace capra::golden
