// Matching of reductions over one axis.
#include "capra/passes/rules/reduction_match.h"

#include "capra/ops/broadcast.h"
#include "capra/ops/div.h"
#include "capra/ops/mean.h"
#include "capra/ops/mul.h"
#include "capra/ops/reduction.h"
#include "capra/ops/reshape.h"
#include "capra/ops/sub.h"
#include "capra/ops/sum.h"
#include "capra/ops/variance.h"

namespace capra {
namespace {

/// Goes down while the node is `op`, keeping what is passed.
void pass_through(const Graph& graph, NodeId& id, const OpDef& op, std::vector<NodeId>& inside) {
  while (is_op(graph, id, op)) {
    inside.push_back(id);
    id = operand(graph, id, 0);
  }
}

/// Whether a shape stands where x's does with extent 1 at `position`.
bool aligns(const Shape& found, const Shape& x, int64_t position) {
  const int64_t missing = x.rank() - found.rank();
  if (missing < 0) return false;
  for (int64_t i = 0; i < x.rank(); ++i) {
    const Dim wanted = i == position ? Dim(1) : x[i];
    if ((i < missing ? Dim(1) : found[i - missing]) != wanted) return false;
  }
  return true;
}

/// total / n or total * (1 / n): goes down to the total and returns n.
std::optional<double> pass_division(const Graph& graph, NodeId& id, std::vector<NodeId>& inside) {
  std::optional<double> count;
  NodeId total = kAbsent;
  if (is_op(graph, id, kDiv)) {
    count = splat(graph, operand(graph, id, 1));
    total = operand(graph, id, 0);
  } else if (is_op(graph, id, kMul)) {
    for (const auto& [left, number] : both_orders(graph, id)) {
      const std::optional<double> inverse = splat(graph, number);
      if (!inverse) continue;
      count = 1 / *inverse;
      total = left;
    }
  }
  if (!count) return std::nullopt;
  inside.push_back(id);
  id = total;
  return count;
}

/// The one axis of a reduction, or nothing.
std::optional<int64_t> only_axis(const Graph& graph, NodeId id) {
  const auto attrs = graph.node(id).attrs_as<ReduceAttrs>();
  if (attrs.axes.size() == 1) return attrs.axes.front();
  const int64_t rank = graph.node(operand(graph, id, 0)).type.shape.rank();
  return attrs.axes.empty() && rank == 1 ? std::optional<int64_t>(0) : std::nullopt;
}

}  // namespace

std::optional<KeptReduction> match_reduction(const Graph& graph, NodeId id, const OpDef& op) {
  KeptReduction found;
  pass_through(graph, id, kBroadcast, found.inside);
  const NodeId kept = id;
  pass_through(graph, id, kReshape, found.inside);
  std::optional<double> count;
  if (!is_op(graph, id, op)) {
    if (&op != &kMean) return std::nullopt;
    count = pass_division(graph, id, found.inside);
    if (!count) return std::nullopt;
    pass_through(graph, id, kReshape, found.inside);
    if (!is_op(graph, id, kSum)) return std::nullopt;
  }
  found.inside.push_back(id);
  found.of = operand(graph, id, 0);
  const TensorType& type = graph.node(found.of).type;
  const std::optional<int64_t> axis = only_axis(graph, id);
  if (!axis) return std::nullopt;
  found.axis = *axis;
  found.position = position_of(*axis, type.shape.rank());
  if (!aligns(graph.node(kept).type.shape, type.shape, found.position)) return std::nullopt;
  if (count) {
    const Dim& extent = type.shape[found.position];
    if (!extent.is_static()) return std::nullopt;
    if (!is_number(type.dtype, *count, static_cast<double>(extent.size()))) return std::nullopt;
  }
  return found;
}

std::optional<KeptReduction> match_deviation(const Graph& graph, NodeId id) {
  if (!is_op(graph, id, kSub)) return std::nullopt;
  std::optional<KeptReduction> mean = match_reduction(graph, operand(graph, id, 1), kMean);
  if (!mean || mean->of != operand(graph, id, 0)) return std::nullopt;
  mean->inside.push_back(id);
  return mean;
}

std::optional<KeptReduction> match_variance(const Graph& graph, NodeId id) {
  if (std::optional<KeptReduction> direct = match_reduction(graph, id, kVariance)) return direct;
  std::optional<KeptReduction> outer = match_reduction(graph, id, kMean);
  if (!outer || !is_op(graph, outer->of, kMul)) return std::nullopt;
  const NodeId square = outer->of;
  if (operand(graph, square, 0) != operand(graph, square, 1)) return std::nullopt;
  const std::optional<KeptReduction> inner = match_deviation(graph, operand(graph, square, 0));
  if (!inner || inner->position != outer->position) return std::nullopt;
  outer->of = inner->of;
  outer->inside.push_back(square);
  outer->inside.insert(outer->inside.end(), inner->inside.begin(), inner->inside.end());
  return outer;
}

}  // namespace capra
