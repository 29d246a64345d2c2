// Random well-typed graphs over every op of the list, and data for them.
#pragma once

#include <cstdint>

#include "capra/ir/graph.h"
#include "tests/passes/graph_run.h"

namespace capra::testing {

/// The same graph for the same seed: two to four inputs of any dtypes, every second graph with
/// symbolic dims, extents of 0 and 1 among the others, then calls of ops drawn from the whole list
/// on values that are there, weights and indices as parameters, one to four outputs. Operands that
/// grow, or where a function has a pole, mostly are kept within bounds, so that results stay
/// finite. A new op takes part without a line here if its operands broadcast or its attributes have
/// the names of others.
Graph generate_graph(uint64_t seed);

/// Values of the symbols of a generated graph.
DimBindings bindings_of(uint64_t seed);

/// Data by the names of inputs and parameters, so that a smaller graph gets the same: floats in
/// [-2, 2), small integers; indices within what they index.
GraphData data_of(const Graph& graph, const DimBindings& bindings, uint64_t seed);

}  // namespace capra::testing
