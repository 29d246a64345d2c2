// The factor between the scale of what a unit makes and that of the tensor.
#include "capra/targets/ga2/quantize/requantizers.h"

#include <cmath>

#include "capra/base/number_text.h"

namespace capra::ga2 {
namespace {

constexpr double kSameScale = 1e-9;

Result<Multiplier> multiplier_for(const Network& network, NodeIndex node, double factor) {
  const std::optional<Multiplier> multiplier = multiplier_of(factor);
  if (multiplier) return *multiplier;
  return fail("multiplier-out-of-range",
              "node " + number_text(node) + " (" +
                  std::string(node_op_name(network.node(node).op)) + ") is to be multiplied by " +
                  number_text(factor),
              {}, "a requantizer holds positive factors from 1e-12 to 1.6e7");
}

}  // namespace

bool changes_levels(const Requantizer& requantizer) {
  for (int32_t level = -kMostLevel; level <= kMostLevel; ++level) {
    if (requantize(level, requantizer.factor, requantizer.relu) != level) return true;
  }
  return false;
}

Result<std::vector<Requantizer>> requantizers_of(const Network& network,
                                                 std::span<const double> scales, NodeIndex node,
                                                 bool relu) {
  const NetworkNode& one = network.node(node);
  const auto scale = [&](NodeIndex index) { return scales[static_cast<size_t>(index)]; };
  std::vector<Requantizer> result;
  if (one.op == NodeOp::Matmul) {
    const double factor =
        one.factor * scale(one.operands[0]) * scale(one.operands[1]) / scale(node);
    CAPRA_ASSIGN(const Multiplier by, multiplier_for(network, node, factor));
    result.push_back({node, {}, by, relu});
  } else if (one.op == NodeOp::Softmax) {
    // From fractions of 65536 to steps of 1/127.
    CAPRA_ASSIGN(const Multiplier by, multiplier_for(network, node, double{kMostLevel} / 65536));
    result.push_back({node, {}, by, false});
  } else if (one.op == NodeOp::Add) {
    for (size_t i = 0; i < one.operands.size(); ++i) {
      const double ratio = scale(one.operands[i]) / scale(node);
      if (std::fabs(ratio - 1) < kSameScale) continue;
      CAPRA_ASSIGN(const Multiplier by, multiplier_for(network, node, ratio));
      result.push_back({node, static_cast<int64_t>(i), by, false});
    }
  }
  return result;
}

}  // namespace capra::ga2
