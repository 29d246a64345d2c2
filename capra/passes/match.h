// Looking at a graph by structure and attributes; names play no part.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "capra/ir/graph.h"

namespace capra {

inline bool is_op(const Graph& graph, NodeId id, const OpDef& op) {
  return id != kAbsent && graph.node(id).op == &op;
}

/// By node: whether an output needs it, or it is an input or an output.
std::vector<bool> live_nodes(const Graph& graph);

/// Operand `index`, or `kAbsent` where it was not given.
NodeId operand(const Graph& graph, NodeId id, size_t index);

/// The two operands of a commutative op in both orders; only for add and mul and the like, whose
/// result does not depend on it.
std::array<std::pair<NodeId, NodeId>, 2> both_orders(const Graph& graph, NodeId id);

/// The number that every element of a constant has, looked at through broadcast, reshape and
/// permute. Nothing when elements differ (bit for bit), or there is none.
std::optional<double> splat(const Graph& graph, NodeId id);

/// Whether `found`, a constant of this dtype, is `wanted` as an author may have written it: rounded
/// to the dtype, or with the digits commonly printed.
bool is_number(DType dtype, double found, double wanted);

/// Whether every value of `from` is a value of `to`.
bool holds(DType to, DType from);

/// An axis attribute as a position.
int64_t position_of(int64_t axis, int64_t rank);

/// Whether a permutation exchanges the last two axes and leaves the others.
bool swaps_last_two(std::span<const int64_t> axes);

/// Whether every node of `inside` but `root` is used by nodes of `inside` only: then nobody else
/// observes the values that a rewrite of `root` takes away.
bool unobserved(const std::vector<std::vector<NodeId>>& users, std::span<const NodeId> inside,
                NodeId root);

}  // namespace capra
