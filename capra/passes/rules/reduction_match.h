// Reductions as authors of primitives spell them.
#pragma once

#include <optional>
#include <vector>

#include "capra/passes/match.h"

namespace capra {

/// A reduction over one axis that is kept with extent 1, or that broadcasts as if it were.
struct KeptReduction {
  NodeId of = kAbsent;         ///< what is reduced
  int64_t axis = 0;            ///< as written in the op's attributes
  int64_t position = 0;        ///< counted from the front
  std::vector<NodeId> inside;  ///< the nodes that spell it
};

/// `id` as the reduction `op` over one axis: with keep_dims; or without and reshaped; or without,
/// where broadcasting aligns it all the same; broadcast back or not. A mean is also found as a sum
/// divided by the extent.
std::optional<KeptReduction> match_reduction(const Graph& graph, NodeId id, const OpDef& op);

/// `id` as x minus its mean over one axis; `of` is x.
std::optional<KeptReduction> match_deviation(const Graph& graph, NodeId id);

/// `id` as the population variance over one axis: the op, or the mean of the squared deviation.
std::optional<KeptReduction> match_variance(const Graph& graph, NodeId id);

}  // namespace capra
