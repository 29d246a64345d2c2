// Rows of embedding tables summed and normalized, as one group.
#include "capra/ops/add.h"
#include "capra/ops/gather.h"
#include "capra/ops/layer_norm.h"
#include "capra/passes/fusion_labels.h"
#include "capra/passes/passes.h"
#include "capra/passes/rule.h"
#include "capra/passes/rules/linear_group.h"

namespace capra {
namespace {

/// A gather of rows of a table by a list, read by one node; of the type of the result, so that no
/// row of it is broadcast.
bool is_row_gather(const GraphRewriter& rewriter, NodeId id, const TensorType& type) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, id, kGather) || !rewriter.used_once(id)) return false;
  if (graph.node(id).type != type) return false;
  return position_of(graph.node(id).attrs_as<GatherAttrs>().axis, 2) == 0 &&
         graph.node(operand(graph, id, 0)).type.shape.rank() == 2 &&
         graph.node(operand(graph, id, 1)).type.shape.rank() == 1;
}

// layer_norm(((t0 + t1) + t2)..., gamma, beta), at least one term a gather of rows. The terms and
// the order of the sums stay as they are.
bool embedding_layer_norm(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, root, kLayerNorm)) return false;
  const TensorType& type = graph.node(root).type;
  if (type.shape.rank() != 2) return false;
  std::vector<NodeId> adds;   // outermost first
  std::vector<NodeId> terms;  // last first
  NodeId at = operand(graph, root, 0);
  while (is_op(graph, at, kAdd) && rewriter.used_once(at) && graph.node(at).type == type) {
    adds.push_back(at);
    terms.push_back(operand(graph, at, 1));
    at = operand(graph, at, 0);
  }
  if (adds.empty()) return false;
  terms.push_back(at);
  bool gathers = false;
  for (const NodeId term : terms) gathers = gathers || is_row_gather(rewriter, term, type);
  if (!gathers) return false;

  GroupBuilder group(rewriter, kFusedEmbeddingLayerNorm);
  std::vector<std::pair<NodeId, NodeId>> inputs;  // table and rows, or a value and nothing
  for (size_t i = 0; i < terms.size(); ++i) {
    const NodeId term = terms[terms.size() - 1 - i];
    const std::string number = std::to_string(i);
    if (is_row_gather(rewriter, term, type)) {
      const NodeId table = group.input("table" + number, operand(graph, term, 0));
      inputs.emplace_back(table, group.input("rows" + number, operand(graph, term, 1)));
    } else {
      inputs.emplace_back(group.input("term" + number, term), kAbsent);
    }
  }
  std::vector<NodeId> values;
  for (size_t i = 0; i < terms.size(); ++i) {
    const auto& [first, rows] = inputs[i];
    values.push_back(rows == kAbsent ? first
                                     : group.copy(terms[terms.size() - 1 - i], {first, rows}));
  }
  NodeId sum = values.front();
  for (size_t i = 1; i < values.size(); ++i) {
    sum = group.copy(adds[adds.size() - i], {sum, values[i]});
  }
  group.finish_for(root, add_layer_norm(group, graph, root, sum));
  return true;
}

constexpr Rule kRules[] = {{"embedding-layer-norm", embedding_layer_norm}};

Result<Graph> run(const Graph& graph, PassContext& context) {
  return apply_rules(graph, context, kFuseEmbeddingLayerNorm.name, kRules);
}

}  // namespace

const Pass kFuseEmbeddingLayerNorm{
    "fuse-embedding-layer-norm",
    "Groups a sum of embedding rows with the layer norm that alone reads it.", NumericEffect::Exact,
    run};

}  // namespace capra
