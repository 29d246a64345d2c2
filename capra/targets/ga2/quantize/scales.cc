// Calibration, the groups of tensors that share a scale, and the scales that the units need.
#include "capra/targets/ga2/quantize/scales.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "capra/base/number_text.h"
#include "capra/targets/ga2/quantize/fixed_point.h"

namespace capra::ga2 {
namespace {

constexpr double kSoftmaxInputScale = 1.0 / 16;
constexpr double kProbabilityScale = 1.0 / kMostLevel;
constexpr double kMostNarrowLevel = 7;  // of 4 bits

// Tensors that share a scale, as a forest; a group is called by its root.
class Groups {
 public:
  explicit Groups(NodeIndex size) : parents_(static_cast<size_t>(size)) {
    std::iota(parents_.begin(), parents_.end(), 0);
  }
  NodeIndex root(NodeIndex node) {
    while (parent(node) != node) {
      parent(node) = parent(parent(node));  // halves the way of those who come later
      node = parent(node);
    }
    return node;
  }
  /// `into` names the group of both.
  void join(NodeIndex node, NodeIndex into) { parent(root(node)) = root(into); }

 private:
  NodeIndex& parent(NodeIndex node) { return parents_[static_cast<size_t>(node)]; }

  std::vector<NodeIndex> parents_;
};

Groups groups_of(const Network& network) {
  Groups groups(network.size());
  for (NodeIndex i = 0; i < network.size(); ++i) {
    const NetworkNode& node = network.node(i);
    const bool shares = node.op == NodeOp::Concat || node.op == NodeOp::Relu ||
                        node.op == NodeOp::Slice || node.op == NodeOp::Output;
    if (!shares) continue;
    for (const NodeIndex operand : node.operands) groups.join(operand, i);
  }
  return groups;
}

class Planner {
 public:
  Planner(const Network& network, std::vector<double> ranges)
      : network_(network),
        groups_(groups_of(network)),
        group_ranges_(ranges.size(), 0),
        pins_(ranges.size()) {
    plan_.ranges = std::move(ranges);
    plan_.scales.assign(plan_.ranges.size(), 0);
  }

  ScalePlan run() {
    widen_groups();
    pin_softmaxes();
    for (NodeIndex i = 0; i < network_.size(); ++i) choose(i);
    return std::move(plan_);
  }

 private:
  double range(NodeIndex node) const { return plan_.ranges[static_cast<size_t>(node)]; }
  double& group_range(NodeIndex node) {
    return group_ranges_[static_cast<size_t>(groups_.root(node))];
  }
  std::optional<double>& pin(NodeIndex node) {
    return pins_[static_cast<size_t>(groups_.root(node))];
  }

  void widen(NodeIndex node, double by) { group_range(node) = std::max(group_range(node), by); }

  // Large operands may cancel: a sum's scale holds them too.
  void widen_groups() {
    for (NodeIndex i = 0; i < network_.size(); ++i) {
      const NetworkNode& node = network_.node(i);
      if (node.op != NodeOp::Argmax) widen(i, range(i));
      if (node.op == NodeOp::Add) {
        for (const NodeIndex operand : node.operands) widen(i, range(operand));
      }
    }
  }

  void pin_softmaxes() {
    for (NodeIndex i = 0; i < network_.size(); ++i) {
      if (network_.node(i).op != NodeOp::Softmax) continue;
      const NodeIndex scores = network_.node(i).operands[0];
      pin(scores) = kSoftmaxInputScale;
      const double most = kMostLevel * kSoftmaxInputScale;
      if (group_range(scores) > most) {
        plan_.notes.push_back(fmt::format(
            "node {}: scores reach {:.2f}, above the softmax input range of {:.2f}: they will "
            "saturate",
            scores, group_range(scores), most));
      }
      pin(i) = kProbabilityScale;
    }
  }

  void choose(NodeIndex index) {
    const NetworkNode& node = network_.node(index);
    if (node.op == NodeOp::Argmax) return;
    double& scale = plan_.scales[static_cast<size_t>(index)];
    const std::optional<double> pinned = pin(index);
    scale = pinned ? *pinned : level_of(group_range(index), kMostLevel);
    if (pinned && range(index) > *pinned * kMostLevel * kTolerated && is_noted(node.op) &&
        groups_.root(index) != index) {
      plan_.notes.push_back(fmt::format(
          "node {} ({}) reaches {:.3f}, above the {:.3f} that its pinned scale can hold: it will "
          "saturate",
          index, node_op_name(node.op), range(index), *pinned * kMostLevel));
    }
    if (node.op == NodeOp::Weight && node.bits == 4) {
      scale = level_of(range(index), kMostNarrowLevel);
    } else if (network_.is_narrow(index)) {
      scale = plan_.scales[static_cast<size_t>(node.operands[0])];
    }
  }

  static double level_of(double range, double levels) { return (range > 0 ? range : 1.0) / levels; }

  static bool is_noted(NodeOp op) {
    return op == NodeOp::Concat || op == NodeOp::Relu || op == NodeOp::Input ||
           op == NodeOp::Weight;
  }

  static constexpr double kTolerated = 1.001;

  const Network& network_;
  Groups groups_;
  std::vector<double> group_ranges_;         // by root
  std::vector<std::optional<double>> pins_;  // by root
  ScalePlan plan_;
};

Result<std::vector<double>> calibrate(const Network& network, std::span<const Sample> calibration) {
  if (calibration.empty()) {
    return fail("sample-invalid", "no calibration sample was given", {},
                "scales are chosen from the values of one or more samples");
  }
  std::vector<double> ranges(network.nodes().size(), 0);
  for (size_t i = 0; i < calibration.size(); ++i) {
    const std::string what = "calibration sample " + number_text(i);
    CAPRA_TRY(check_sample(network, calibration[i], what));
    const std::vector<Matrix<double>> values = evaluate(network, calibration[i]);
    for (size_t node = 0; node < values.size(); ++node) {
      for (const double value : values[node].values) {
        if (!std::isfinite(value)) {
          return fail("range-invalid",
                      "node " + number_text(node) + " has a value that is not finite", what,
                      "correct the graph's factors, weights or samples");
        }
        ranges[node] = std::max(ranges[node], std::fabs(value));
      }
    }
  }
  return ranges;
}

Status set_ranges(const Network& network, const TaggedRanges& tagged, std::vector<double>& ranges) {
  for (const auto& [tag, range] : tagged) {
    if (!(range > 0) || !std::isfinite(range)) {
      return fail("range-invalid", "the range of " + tag + " is " + number_text(range), {},
                  "give a positive number");
    }
    bool found = false;
    for (NodeIndex i = 0; i < network.size(); ++i) {
      if (network.node(i).tag != tag) continue;
      ranges[static_cast<size_t>(i)] = range;
      found = true;
    }
    if (!found) {
      return fail("range-invalid",
                  "a range was given for " + tag + ", which is the tag of no tensor", {},
                  "tag a tensor of the graph");
    }
  }
  return {};
}

bool fits_4_bits(const NetworkNode& weight, double scale) {
  return std::ranges::all_of(weight.weights.values, [&](double value) {
    return std::abs(quantize(value, scale)) <= kMostNarrowLevel;
  });
}

// A scale of 0 is none, and packed values beyond 4 bits would wrap around.
Status check_scales(const Network& network, const ScalePlan& plan) {
  for (NodeIndex i = 0; i < network.size(); ++i) {
    if (network.node(i).op == NodeOp::Argmax) continue;
    const double scale = plan.scales[static_cast<size_t>(i)];
    const NetworkNode& node = network.node(i);
    const bool is_packed = node.op == NodeOp::Weight && node.bits == 4;
    if (scale > 0 && is_packed && !fits_4_bits(node, scale)) {
      return fail(
          "range-invalid",
          fmt::format("the range of {} is {}, and it has values that do not fit 4 bits then",
                      node.tag, number_text(plan.ranges[static_cast<size_t>(i)])),
          {}, "give a range that holds the weight, or store it with 8 bits");
    }
    if (scale > 0) continue;
    return fail("range-invalid",
                fmt::format("node {} reaches {}: a level of it is 0 in double precision", i,
                            number_text(plan.ranges[static_cast<size_t>(i)])),
                {}, "scale the graph's weights or samples up");
  }
  return {};
}

}  // namespace

Status check_softmaxes(const Network& network, const ScalePlan& plan) {
  for (NodeIndex i = 0; i < network.size(); ++i) {
    if (network.node(i).op != NodeOp::Softmax) continue;
    const NodeIndex scores = network.node(i).operands[0];
    for (const auto& [node, scale] :
         {std::pair(scores, kSoftmaxInputScale), std::pair(i, kProbabilityScale)}) {
      const double planned = plan.scales[static_cast<size_t>(node)];
      if (planned == scale) continue;
      return fail(
          "placement-impossible",
          fmt::format("node {}: the softmax needs steps of 1/{} in node {}, which has steps "
                      "of 1/{} for another softmax",
                      i, number_text(1 / scale), node, number_text(1 / planned)),
          {}, "put a matmul between the two");
    }
  }
  return {};
}

Result<ScalePlan> plan_scales(const Network& network, std::span<const Sample> calibration,
                              const TaggedRanges& ranges) {
  CAPRA_ASSIGN(std::vector<double> seen, calibrate(network, calibration));
  CAPRA_TRY(set_ranges(network, ranges, seen));
  ScalePlan plan = Planner(network, std::move(seen)).run();
  CAPRA_TRY(check_scales(network, plan));
  return plan;
}

}  // namespace capra::ga2
