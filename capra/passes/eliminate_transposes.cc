// A permute that exchanges the last two axes becomes a flag of the matmul that reads it or makes
// what it reads. Exact: transposes never change the order of a product's terms.
#include "capra/ops/matmul.h"
#include "capra/ops/permute.h"
#include "capra/passes/passes.h"
#include "capra/passes/rule.h"

namespace capra {
namespace {

/// What `id` exchanges the last two axes of, or `kAbsent`. Other permutations do not count.
NodeId transposed(const Graph& graph, NodeId id) {
  if (!is_op(graph, id, kPermute)) return kAbsent;
  if (!swaps_last_two(graph.node(id).attrs_as<PermuteAttrs>().axes)) return kAbsent;
  return operand(graph, id, 0);
}

// matmul(x^T, y) = matmul(x, y) {transpose_a}, and likewise b
bool transposed_operand(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, root, kMatmul)) return false;
  auto attrs = graph.node(root).attrs_as<MatmulAttrs>();
  NodeId a = operand(graph, root, 0);
  NodeId b = operand(graph, root, 1);
  const NodeId a_source = transposed(graph, a);
  const NodeId b_source = transposed(graph, b);
  if (a_source == kAbsent && b_source == kAbsent) return false;
  if (a_source != kAbsent) {
    a = a_source;
    attrs.transpose_a = !attrs.transpose_a;
  }
  if (b_source != kAbsent) {
    b = b_source;
    attrs.transpose_b = !attrs.transpose_b;
  }
  rewriter.splice(root, [&] { return matmul(rewriter.tensor(a), rewriter.tensor(b), attrs); });
  return true;
}

// (a b)^T = b^T a^T, when nobody else reads a b
bool transposed_result(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  const NodeId product = transposed(graph, root);
  if (product == kAbsent || !is_op(graph, product, kMatmul) || !rewriter.used_once(product)) {
    return false;
  }
  const auto attrs = graph.node(product).attrs_as<MatmulAttrs>();
  rewriter.splice(root, [&] {
    const Tensor a = rewriter.tensor(operand(graph, product, 0));
    const Tensor b = rewriter.tensor(operand(graph, product, 1));
    return matmul(b, a,
                  {.transpose_a = !attrs.transpose_b,
                   .transpose_b = !attrs.transpose_a,
                   .factor = attrs.factor});
  });
  rewriter.keep_notes(product, rewriter.mapped(root));
  return true;
}

constexpr Rule kRules[] = {
    {"transposed-operand", transposed_operand},
    {"transposed-result", transposed_result},
};

Result<Graph> run(const Graph& graph, PassContext& context) {
  return apply_rules(graph, context, kEliminateTransposes.name, kRules);
}

}  // namespace

const Pass kEliminateTransposes{
    "eliminate-transposes",
    "Turns permutes of the last two axes next to a matmul into its transpose flags.",
    NumericEffect::Exact, run};

}  // namespace capra
