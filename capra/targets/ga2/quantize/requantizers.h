// How results come from sums to levels of their scale.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "capra/base/result.h"
#include "capra/targets/ga2/network.h"
#include "capra/targets/ga2/quantize/fixed_point.h"

namespace capra::ga2 {

/// How far a tensor's levels may be from its op's real-number result on what its operands' levels
/// stand for, in levels, while nothing saturates; 0 where no number changes: a view, or indices.
constexpr double levels_off(NodeOp op) {
  switch (op) {
    case NodeOp::Input:
    case NodeOp::Weight:
      return 0.5;
    case NodeOp::Matmul:
    case NodeOp::Softmax:
      return 1;
    case NodeOp::Add:
      return 2;  // the operands are brought to the sum's scale first
    case NodeOp::Relu:
    case NodeOp::Concat:
    case NodeOp::Slice:
    case NodeOp::Argmax:
    case NodeOp::Output:
      break;
  }
  return 0;
}

/// How the result of a node, or an operand of a sum, is brought to its scale.
struct Requantizer {
  NodeIndex node = 0;
  std::optional<int64_t> operand = {};  ///< of a sum: 0 or 1
  Multiplier factor;
  bool relu = false;
};

/// Whether it makes another level of any level: one that is near enough to 1 does not.
bool changes_levels(const Requantizer& requantizer);

/// Those of one node: one of a matmul or softmax; of a sum, one for each operand of another scale;
/// else none. `scales` is by node; `relu` is that of a matmul. Fails with
/// `multiplier-out-of-range`.
Result<std::vector<Requantizer>> requantizers_of(const Network& network,
                                                 std::span<const double> scales, NodeIndex node,
                                                 bool relu);

}  // namespace capra::ga2
