// Softmax out of primitives: exp(x - max x) / sum exp(x - max x) over one axis, with or without the
// guards for rows in which nothing is allowed. Without the maximum it is left alone: such a graph
// overflows where softmax does not.
#include <limits>

#include "capra/ops/compare.h"
#include "capra/ops/div.h"
#include "capra/ops/exp.h"
#include "capra/ops/max.h"
#include "capra/ops/mul.h"
#include "capra/ops/select.h"
#include "capra/ops/softmax.h"
#include "capra/ops/sub.h"
#include "capra/ops/sum.h"
#include "capra/passes/passes.h"
#include "capra/passes/rule.h"
#include "capra/passes/rules/reduction_match.h"

namespace capra {
namespace {

/// What a guard of rows of -inf lets through, and the maximum it looks at.
struct Guarded {
  NodeId value = kAbsent;                           ///< absent where the select is no such guard
  std::optional<KeptReduction> max = std::nullopt;  ///< empty where there is no select

  bool looks_at(NodeId x, int64_t position) const {
    return !max || (max->of == x && max->position == position);
  }
};

/// Looks through select(max == -inf, instead, value).
Guarded pass_guard(const Graph& graph, NodeId id, double instead, std::vector<NodeId>& inside) {
  if (!is_op(graph, id, kSelect)) return {id};
  const NodeId test = operand(graph, id, 0);
  if (splat(graph, operand(graph, id, 1)) != instead || !is_op(graph, test, kCompare) ||
      graph.node(test).attrs_as<CompareAttrs>().direction != "eq") {
    return {};
  }
  const double lowest = -std::numeric_limits<double>::infinity();
  for (const auto& [greatest, bound] : both_orders(graph, test)) {
    if (splat(graph, bound) != lowest) continue;
    std::optional<KeptReduction> max = match_reduction(graph, greatest, kMax);
    if (!max) continue;
    inside.push_back(id);
    inside.push_back(test);
    inside.insert(inside.end(), max->inside.begin(), max->inside.end());
    return {operand(graph, id, 2), std::move(max)};
  }
  return {};
}

/// What the exponentials e are divided by in `root`, with e and what is passed: e / s, or e * (1 /
/// s).
struct Quotient {
  NodeId e = kAbsent;
  NodeId divisor = kAbsent;
};

std::vector<Quotient> quotients(const Graph& graph, NodeId root, std::vector<NodeId>& inside) {
  if (is_op(graph, root, kDiv)) return {{operand(graph, root, 0), operand(graph, root, 1)}};
  if (!is_op(graph, root, kMul)) return {};
  std::vector<Quotient> found;
  for (const auto& [e, inverse] : both_orders(graph, root)) {
    if (!is_op(graph, inverse, kDiv) || splat(graph, operand(graph, inverse, 0)) != 1.0) continue;
    inside.push_back(inverse);
    found.push_back({e, operand(graph, inverse, 1)});
  }
  return found;
}

bool softmax_in_primitives(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  std::vector<NodeId> inside{root};
  for (const auto& [e, divisor] : quotients(graph, root, inside)) {
    if (!is_op(graph, e, kExp) || !is_op(graph, operand(graph, e, 0), kSub)) continue;
    const NodeId shifted = operand(graph, e, 0);
    const NodeId x = operand(graph, shifted, 0);
    inside.push_back(e);
    inside.push_back(shifted);
    const Guarded total = pass_guard(graph, divisor, 1, inside);
    const Guarded reference = pass_guard(graph, operand(graph, shifted, 1), 0, inside);
    if (total.value == kAbsent || reference.value == kAbsent) continue;
    const std::optional<KeptReduction> sum = match_reduction(graph, total.value, kSum);
    const std::optional<KeptReduction> max = match_reduction(graph, reference.value, kMax);
    if (!sum || !max || sum->of != e || max->of != x || sum->position != max->position) continue;
    if (!total.looks_at(x, max->position) || !reference.looks_at(x, max->position)) continue;
    if (graph.node(x).type != graph.node(root).type) continue;
    inside.insert(inside.end(), sum->inside.begin(), sum->inside.end());
    inside.insert(inside.end(), max->inside.begin(), max->inside.end());
    if (!unobserved(rewriter.all_users(), inside, root)) continue;
    rewriter.splice(root, [&, axis = sum->axis] { return softmax(rewriter.tensor(x), axis); });
    return true;
  }
  return false;
}

constexpr Rule kRules[] = {{"softmax-in-primitives", softmax_in_primitives}};

Result<Graph> run(const Graph& graph, PassContext& context) {
  return apply_rules(graph, context, kRaiseSoftmax.name, kRules);
}

}  // namespace

const Pass kRaiseSoftmax{"raise-softmax", "Recognizes the stable softmax spelled in primitives.",
                         NumericEffect::Meaning, run};

}  // namespace capra
