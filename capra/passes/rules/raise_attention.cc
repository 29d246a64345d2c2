// Attention out of matmuls and a softmax: softmax(q k^T scale + mask) v with the heads in front,
// and neither a causal rule nor sequences.
#include <cmath>

#include "capra/ops/add.h"
#include "capra/ops/attention.h"
#include "capra/ops/div.h"
#include "capra/ops/matmul.h"
#include "capra/ops/mul.h"
#include "capra/ops/permute.h"
#include "capra/ops/softmax.h"
#include "capra/passes/passes.h"
#include "capra/passes/rule.h"

namespace capra {
namespace {

struct Found {
  NodeId q = kAbsent;  ///< [heads, tokens, head_dim]
  NodeId k = kAbsent;  ///< [heads, ktokens, head_dim], or transposed
  NodeId v = kAbsent;  ///< [heads, ktokens, value_dim]
  NodeId mask = kAbsent;
  bool q_transposed = false;
  bool k_transposed = false;  ///< k is [heads, head_dim, ktokens]
  double scale = 1;
  std::vector<NodeId> inside;
};

/// value * c or value / c with a constant c: goes down to the value and returns the factor.
double pass_scale(const Graph& graph, NodeId& id, std::vector<NodeId>& inside) {
  double scale = 1;
  while (true) {
    NodeId value = kAbsent;
    double factor = 1;
    if (is_op(graph, id, kDiv)) {
      const std::optional<double> number = splat(graph, operand(graph, id, 1));
      if (number) {
        value = operand(graph, id, 0);
        factor = 1 / *number;
      }
    } else if (is_op(graph, id, kMul)) {
      for (const auto& [left, constant] : both_orders(graph, id)) {
        const std::optional<double> number = splat(graph, constant);
        if (!number) continue;
        value = left;
        factor = *number;
      }
    }
    if (value == kAbsent || graph.node(value).type != graph.node(id).type) return scale;
    inside.push_back(id);
    scale *= factor;
    id = value;
  }
}

/// q k^T with its scale, wherever the scale stands.
bool match_scores(const Graph& graph, NodeId id, Found& found) {
  found.scale = pass_scale(graph, id, found.inside);
  if (!is_op(graph, id, kMatmul)) return false;
  const auto attrs = graph.node(id).attrs_as<MatmulAttrs>();
  found.inside.push_back(id);
  found.scale *= attrs.factor;
  found.q = operand(graph, id, 0);
  found.k = operand(graph, id, 1);
  found.scale *= pass_scale(graph, found.q, found.inside);
  found.scale *= pass_scale(graph, found.k, found.inside);
  found.q_transposed = attrs.transpose_a;
  found.k_transposed = !attrs.transpose_b;
  return true;
}

/// softmax over keys of scores, plus a mask or not.
bool match_weights(const Graph& graph, NodeId id, Found& found) {
  if (!is_op(graph, id, kSoftmax)) return false;
  const int64_t rank = graph.node(id).type.shape.rank();
  if (position_of(graph.node(id).attrs_as<SoftmaxAttrs>().axis, rank) != rank - 1) return false;
  found.inside.push_back(id);
  const NodeId scores = operand(graph, id, 0);
  if (!is_op(graph, scores, kAdd)) return match_scores(graph, scores, found);
  for (const auto& [left, mask] : both_orders(graph, scores)) {
    if (graph.node(left).type != graph.node(scores).type) continue;
    Found masked = found;
    masked.inside.push_back(scores);
    masked.mask = mask;
    if (!match_scores(graph, left, masked)) continue;
    found = std::move(masked);
    return true;
  }
  return false;
}

/// Rank 3, equal heads, extents that the op can take.
bool shapes_fit(const Graph& graph, const Found& found) {
  const Shape& q = graph.node(found.q).type.shape;
  const Shape& k = graph.node(found.k).type.shape;
  const Shape& v = graph.node(found.v).type.shape;
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3) return false;
  if (!q[0].is_static() || q[0].size() == 0 || k[0] != q[0] || v[0] != q[0]) return false;
  const Dim& width = q[found.q_transposed ? 1 : 2];
  return width.is_static() && width.size() > 0;
}

Tensor tokens_first(const Tensor& x, bool transposed) {
  return transposed ? permute(x, {2, 0, 1}) : permute(x, {1, 0, 2});
}

bool attention_in_matmuls(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, root, kMatmul)) return false;
  const auto attrs = graph.node(root).attrs_as<MatmulAttrs>();
  if (attrs.transpose_a || attrs.transpose_b || attrs.factor != 1.0) return false;
  Found found{.v = operand(graph, root, 1), .inside = {root}};
  if (!match_weights(graph, operand(graph, root, 0), found)) return false;
  if (!shapes_fit(graph, found) || !unobserved(rewriter.all_users(), found.inside, root)) {
    return false;
  }
  const TensorType& q = graph.node(found.q).type;
  const auto width = static_cast<double>(q.shape[found.q_transposed ? 1 : 2].size());
  // 0 stands for the usual scale, so a scale of 0 cannot be said.
  const double scale = is_number(q.dtype, found.scale, 1 / std::sqrt(width)) ? 0 : found.scale;
  if (found.scale == 0 || !std::isfinite(scale)) return false;
  rewriter.splice(root, [&] {
    const Tensor queries = tokens_first(rewriter.tensor(found.q), found.q_transposed);
    const Tensor keys = tokens_first(rewriter.tensor(found.k), found.k_transposed);
    const Tensor values = tokens_first(rewriter.tensor(found.v), false);
    const Tensor mixed = attention(queries, keys, values, {}, {}, rewriter.tensor(found.mask),
                                   {.causal = false, .scale = scale});
    return permute(mixed, {1, 0, 2});
  });
  return true;
}

constexpr Rule kRules[] = {{"attention-in-matmuls", attention_in_matmuls}};

Result<Graph> run(const Graph& graph, PassContext& context) {
  return apply_rules(graph, context, kRaiseAttention.name, kRules);
}

}  // namespace

const Pass kRaiseAttention{"raise-attention",
                           "Recognizes attention spelled as two matmuls around a softmax.",
                           NumericEffect::Meaning, run};

}  // namespace capra
