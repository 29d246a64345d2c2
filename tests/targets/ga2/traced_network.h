// A network written again as an author writes a graph: one call on tensors a node.
#pragma once

#include "capra/ir/graph.h"
#include "capra/ir/parameters.h"
#include "capra/targets/ga2/network.h"

namespace capra::ga2 {

struct Traced {
  Graph graph;            ///< its weights are parameters, called as in the network
  Parameters parameters;  ///< with their numbers, of the graph's dtype
};

/// The same nodes in the same order, of a float dtype; notes say what weights have 4 bits, and what
/// tensors have tags.
Traced traced(const Network& network, DType dtype = DType::F64);

/// The graph with constants in the place of parameters, whose values are called as the parameters.
Graph with_constants(Graph graph, const Parameters& parameters);

}  // namespace capra::ga2
