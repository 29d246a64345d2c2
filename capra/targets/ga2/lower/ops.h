// The table: which calls the chip's graphs have, and how a call becomes one of their nodes.
#pragma once

#include <span>

#include "capra/ir/graph.h"
#include "capra/ops/op_table.h"
#include "capra/passes/pass.h"
#include "capra/targets/ga2/network.h"

namespace capra::ga2 {

/// One call to be lowered. Its row takes it.
struct Call {
  std::span<const NodeIndex> operands;
  const Attrs& attrs;
  const TensorType& type;  ///< of the result
};

/// One op that the chip's graphs have.
struct Ga2Row : OpRow {
  /// Fails with `op-not-legal`, without the node's path, where `takes` is false: what was found and
  /// what the chip needs.
  Status (*check)(TypeRefs operands, const Attrs& attrs, const TensorType& result) = nullptr;
  /// Appends the node; its failures are those of `Network`.
  Result<NodeIndex> (*lower)(Network& network, const Call& call) = nullptr;
};

/// Matrices (two axes, fixed extents) of f32 or f64: matmul without transpose_a, softmax and argmax
/// along the last axis, add of equal shapes, relu, concat of rows, slices of whole rows, constant.
extern const OpTable kOpTable;

/// Fails with `op-not-legal`, at the node's path, for the first node that the target can neither
/// take nor decompose into what it takes, and for an input or parameter that is no matrix of f32 or
/// f64. `target` is the name that messages have.
Status check_calls(const Graph& graph, std::string_view target);

/// `check_calls` as a pass, which changes nothing: before `legalize` it says more of what is
/// needed.
extern const Pass kCheckCalls;

}  // namespace capra::ga2
