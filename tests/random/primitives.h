// A graph as the oracle computes it: static, and of primitives alone.
#pragma once

#include "capra/ir/graph.h"
#include "tests/passes/graph_run.h"

namespace capra::testing {

/// The graph with numbers for its symbols, those of the data.
Graph with_numbers(const Graph& graph, const GraphData& data);

/// Spelled in primitives of the oracle, groups opened.
Graph in_primitives(const Graph& graph);

}  // namespace capra::testing
