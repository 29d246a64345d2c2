// From an ordinary graph to the graph of matrices that the chip's compiler reads.
#pragma once

#include <string_view>
#include <vector>

#include "capra/ir/graph.h"
#include "capra/ir/parameters.h"
#include "capra/targets/ga2/network.h"
#include "capra/targets/ga2/target.h"

namespace capra::ga2 {

/// Notes of an author on a node. A parameter or constant of 4 bits has `bits = 4`; any tensor may
/// have a name by which its range can be set: `tag = "scores"`.
inline constexpr std::string_view kBitsNote = "bits";
inline constexpr std::string_view kTagNote = "tag";

struct Lowered {
  Network network;
  Graph graph;  ///< what was lowered: legal, without groups
  /// By node of the network: the node of `graph` that it stands for. They are numbered alike, save
  /// that a concat of three or more parts becomes several nodes.
  std::vector<NodeId> origins;
};

/// Node after node in the graph's order: nothing is reordered, shared or dropped, and an output
/// keeps its place among the nodes. Parameters and constants become weights, called by their path,
/// or by the name of the constant's value in text. Ops without a row of their own are decomposed.
/// Fails, at the node's path, with `op-not-legal`, `parameter-missing`, `parameter-type`, and with
/// `network-invalid` for what the chip's graphs do not allow. `target` is the name that messages
/// have.
Result<Lowered> lower(const Graph& graph, const Parameters& parameters = {},
                      std::string_view target = kTarget.name);

}  // namespace capra::ga2
