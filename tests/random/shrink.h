// Making a graph that fails small.
#pragma once

#include <functional>

#include "capra/ir/graph.h"

namespace capra::testing {

/// A graph for which `fails` still holds and no step makes smaller: outputs left out or moved to
/// what they are computed from, a node replaced by one of its operands or by a new input of its
/// type, nodes that nothing uses left out.
/// `fails` holds for `graph`.
Graph shrink(Graph graph, const std::function<bool(const Graph&)>& fails);

}  // namespace capra::testing
