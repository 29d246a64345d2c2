// Layer norm out of primitives: (x - mean) / sqrt(variance + eps), times gamma, plus beta, over the
// last axis.
#include "capra/base/number_text.h"
#include "capra/ops/add.h"
#include "capra/ops/broadcast.h"
#include "capra/ops/div.h"
#include "capra/ops/layer_norm.h"
#include "capra/ops/mul.h"
#include "capra/ops/reshape.h"
#include "capra/ops/rsqrt.h"
#include "capra/ops/sqrt.h"
#include "capra/passes/passes.h"
#include "capra/passes/rule.h"
#include "capra/passes/rules/reduction_match.h"

namespace capra {
namespace {

struct Found {
  NodeId x = kAbsent;
  NodeId core = kAbsent;
  NodeId gamma = kAbsent;
  NodeId beta = kAbsent;
  double eps = 0;
  std::vector<NodeId> inside;
};

/// The number that an author wrote: the shortest decimal that reads as this constant.
double as_written(DType dtype, double value) {
  if (dtype != DType::F32) return value;
  return parse_f64(number_text(static_cast<float>(value))).value_or(value);
}

/// s of 1 / sqrt(s), as rsqrt or spelled out.
NodeId inverse_root(const Graph& graph, NodeId id, std::vector<NodeId>& inside) {
  if (is_op(graph, id, kRsqrt)) {
    inside.push_back(id);
    return operand(graph, id, 0);
  }
  if (!is_op(graph, id, kDiv) || splat(graph, operand(graph, id, 0)) != 1.0) return kAbsent;
  const NodeId root = operand(graph, id, 1);
  if (!is_op(graph, root, kSqrt)) return kAbsent;
  inside.push_back(id);
  inside.push_back(root);
  return operand(graph, root, 0);
}

/// d, s of d / sqrt(s).
std::vector<std::pair<NodeId, NodeId>> scaled_deviations(const Graph& graph, NodeId id,
                                                         std::vector<NodeId>& inside) {
  std::vector<std::pair<NodeId, NodeId>> found;
  if (is_op(graph, id, kDiv)) {
    NodeId root = operand(graph, id, 1);
    while (is_op(graph, root, kBroadcast)) {
      inside.push_back(root);
      root = operand(graph, root, 0);
    }
    if (is_op(graph, root, kSqrt)) {
      inside.push_back(root);
      found.emplace_back(operand(graph, id, 0), operand(graph, root, 0));
    }
  } else if (is_op(graph, id, kMul)) {
    for (auto [deviation, inverse] : both_orders(graph, id)) {
      while (is_op(graph, inverse, kBroadcast)) {
        inside.push_back(inverse);
        inverse = operand(graph, inverse, 0);
      }
      const NodeId stable = inverse_root(graph, inverse, inside);
      if (stable != kAbsent) found.emplace_back(deviation, stable);
    }
  }
  return found;
}

/// (x - mean) / sqrt(variance + eps) over the last axis.
std::optional<Found> match_core(const Graph& graph, NodeId id) {
  std::vector<NodeId> passed{id};
  for (const auto& [deviation, stable] : scaled_deviations(graph, id, passed)) {
    const std::optional<KeptReduction> centered = match_deviation(graph, deviation);
    if (!centered) continue;
    const TensorType& type = graph.node(centered->of).type;
    if (type != graph.node(id).type || centered->position != type.shape.rank() - 1) continue;
    Found found{.x = centered->of, .core = id, .inside = passed};
    NodeId spread = stable;
    if (is_op(graph, stable, kAdd)) {
      for (const auto& [left, number] : both_orders(graph, stable)) {
        const std::optional<double> eps = splat(graph, number);
        if (!eps || !(*eps >= 0)) continue;
        found.inside.push_back(stable);
        found.eps = as_written(type.dtype, *eps);
        spread = left;
      }
    }
    const std::optional<KeptReduction> variance = match_variance(graph, spread);
    if (!variance || variance->of != found.x || variance->position != centered->position) continue;
    for (const auto* part : {&*centered, &*variance}) {
      found.inside.insert(found.inside.end(), part->inside.begin(), part->inside.end());
    }
    return found;
  }
  return std::nullopt;
}

/// The row [n] that an operand repeats over the other axes, or `kAbsent`.
NodeId row_of(const Graph& graph, NodeId id, const TensorType& x, std::vector<NodeId>& inside) {
  const Shape row{x.shape[x.shape.rank() - 1]};
  std::vector<NodeId> passed;
  while (graph.node(id).type.shape != row &&
         (is_op(graph, id, kBroadcast) || is_op(graph, id, kReshape))) {
    passed.push_back(id);
    const Shape from = graph.node(operand(graph, id, 0)).type.shape;
    if (is_op(graph, id, kBroadcast) && from.rank() > 0 && from[from.rank() - 1] != row[0]) {
      return kAbsent;
    }
    if (is_op(graph, id, kReshape) && from != row) return kAbsent;
    id = operand(graph, id, 0);
  }
  if (graph.node(id).type.shape != row) return kAbsent;
  inside.insert(inside.end(), passed.begin(), passed.end());
  return id;
}

/// `id` as what `inner` matches, combined by `op` with a row of numbers.
template <class Inner>
std::optional<Found> match_row(const Graph& graph, NodeId id, const OpDef& op, NodeId Found::* part,
                               const Inner& inner) {
  if (!is_op(graph, id, op)) return std::nullopt;
  for (const auto& [value, other] : both_orders(graph, id)) {
    std::optional<Found> found = inner(value);
    if (!found || graph.node(value).type != graph.node(id).type) continue;
    const NodeId row = row_of(graph, other, graph.node(found->x).type, found->inside);
    if (row == kAbsent) continue;
    (*found).*part = row;
    found->inside.push_back(id);
    return found;
  }
  return std::nullopt;
}

std::optional<Found> match(const Graph& graph, NodeId id) {
  const auto core = [&](NodeId at) { return match_core(graph, at); };
  const auto scaled = [&](NodeId at) {
    std::optional<Found> found = match_row(graph, at, kMul, &Found::gamma, core);
    return found ? found : core(at);
  };
  std::optional<Found> found = match_row(graph, id, kAdd, &Found::beta, scaled);
  return found ? found : scaled(id);
}

bool layer_norm_in_primitives(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_float(graph.node(root).type.dtype)) return false;
  const std::optional<Found> found = match(graph, root);
  if (!found || !unobserved(rewriter.all_users(), found->inside, root)) return false;
  // The widest match is the op: gamma and beta come after this node.
  if (rewriter.used_once(root)) {
    const std::optional<Found> wider = match(graph, rewriter.users(root).front());
    if (wider && wider->core == found->core) return false;
  }
  rewriter.splice(root, [&] {
    const Tensor x = rewriter.tensor(found->x);
    const Tensor gamma = rewriter.tensor(found->gamma);
    const Tensor beta = rewriter.tensor(found->beta);
    return layer_norm(x, gamma, beta, {.eps = found->eps});
  });
  return true;
}

constexpr Rule kRules[] = {{"layer-norm-in-primitives", layer_norm_in_primitives}};

Result<Graph> run(const Graph& graph, PassContext& context) {
  return apply_rules(graph, context, kRaiseLayerNorm.name, kRules);
}

}  // namespace

const Pass kRaiseLayerNorm{"raise-layer-norm",
                           "Recognizes layer norm over the last axis spelled in primitives.",
                           NumericEffect::Meaning, run};

}  // namespace capra
