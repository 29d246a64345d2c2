// A product with a weight, and a bias, as one linear. Exact: linear is defined as the matmul order,
// then the bias as a rounded step; of f16 and bf16 it rounds once and the two ops twice.
#include "capra/ops/add.h"
#include "capra/ops/linear.h"
#include "capra/ops/matmul.h"
#include "capra/passes/passes.h"
#include "capra/passes/rule.h"

namespace capra {
namespace {

bool rounds_every_step(const Graph& graph, NodeId id) {
  const DType dtype = graph.node(id).type.dtype;
  return dtype == DType::F32 || dtype == DType::F64;
}

/// Whether a matmul is x [..., rows, in] by weight [out, in].
bool is_weight_product(const Graph& graph, NodeId id) {
  if (!is_op(graph, id, kMatmul)) return false;
  const auto attrs = graph.node(id).attrs_as<MatmulAttrs>();
  return !attrs.transpose_a && attrs.transpose_b && attrs.factor == 1.0 &&
         graph.node(operand(graph, id, 0)).type.shape.rank() >= 2 &&
         graph.node(operand(graph, id, 1)).type.shape.rank() == 2;
}

/// Whether a linear has no bias.
bool is_bare_linear(const Graph& graph, NodeId id) {
  return is_op(graph, id, kLinear) && operand(graph, id, 2) == kAbsent;
}

// product(x, w) + b = linear(x, w, b), when nobody else reads the product and b is [out]
template <bool (*is_product)(const Graph&, NodeId)>
bool join_bias(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, root, kAdd) || !rounds_every_step(graph, root)) return false;
  for (const auto& [product, bias] : both_orders(graph, root)) {
    if (!is_product(graph, product) || !rewriter.used_once(product)) continue;
    const Node& node = graph.node(product);
    const Shape& shape = node.type.shape;
    if (graph.node(bias).type.shape != Shape{shape[shape.rank() - 1]}) continue;
    const NodeId added = bias;
    rewriter.splice(root, [&] {
      const Tensor x = rewriter.tensor(node.operands[0]);
      const Tensor weight = rewriter.tensor(node.operands[1]);
      return linear(x, weight, rewriter.tensor(added));
    });
    rewriter.keep_notes(product, rewriter.mapped(root));
    return true;
  }
  return false;
}

constexpr Rule kRules[] = {
    {"product-and-bias", join_bias<is_weight_product>},
    {"linear-and-bias", join_bias<is_bare_linear>},
};

Result<Graph> run(const Graph& graph, PassContext& context) {
  return apply_rules(graph, context, kFuseLinear.name, kRules);
}

}  // namespace

const Pass kFuseLinear{"fuse-linear", "Makes a product with a weight and a bias one linear.",
                       NumericEffect::Exact, run};

}  // namespace capra
