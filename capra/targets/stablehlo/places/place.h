// Where refusals of what passes made of a graph are, in the graph that was given.
#pragma once

#include <string>
#include <string_view>

#include "capra/base/diagnostic.h"
#include "capra/ir/graph.h"

namespace capra::stablehlo {

/// The graph with names at all nodes: their numbers where they have none, which passes keep.
Graph with_numbers_as_names(Graph graph);

/// The node's path, or its name in text; of a step without either that of what it is a step of.
std::string place_of(const Graph& graph, NodeId id);

/// The refusal at this node, unless it has its own place.
Diagnostic placed(Diagnostic refusal, const Graph& graph, NodeId id);

/// Throws `Error` (`symbol-unbound`) where an attribute of a node that becomes a composite has a
/// dim that none of its operands has: the body is a function of these and cannot know it.
void check_dims_of_body(const Graph& graph, NodeId id, std::string_view reason_to_keep);

}  // namespace capra::stablehlo
