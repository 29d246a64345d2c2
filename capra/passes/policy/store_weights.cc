// matmul(x, w) = matmul(x, w^T) {transpose_b}, with w^T made once.
#include "capra/passes/policy/store_weights.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "capra/ir/structural_ops.h"
#include "capra/ops/matmul.h"
#include "capra/ops/permute.h"
#include "capra/passes/match.h"
#include "capra/passes/policy/prepare_parameters.h"
#include "capra/passes/rewrite_forms.h"

namespace capra {
namespace {

constexpr std::string_view kLayoutNote = "layout";
constexpr std::string_view kGiven = "given";

Result<bool> is_given(const Graph& graph, NodeId parameter) {
  for (const Note& note : graph.node(parameter).notes) {
    if (note.name != kLayoutNote) continue;
    const auto* text = std::get_if<std::string>(&note.value);
    if (text != nullptr && *text == kGiven) return true;
    return fail("layout-invalid",
                "the note layout of a parameter is not \"" + std::string(kGiven) + "\"",
                graph.node(parameter).attrs_as<ParameterAttrs>().path,
                "write layout = \"given\", or leave the note out");
  }
  return false;
}

bool is_permuted(const Graph& graph, NodeId id) {
  return graph.node(id).op == &kGroup &&
         std::ranges::any_of(graph.node(id).body->nodes(),
                             [](const Node& step) { return step.op == &kPermute; });
}

/// Whether node `id` is a product whose weight may be stored the other way round.
Result<bool> has_other_layout(const GraphRewriter& rewriter, NodeId id, bool transposed) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, id, kMatmul)) return false;
  if (graph.node(id).attrs_as<MatmulAttrs>().transpose_b == transposed) return false;
  const NodeId weight = operand(graph, id, 1);
  const NodeId parameter = parameter_of(graph, weight);
  if (parameter == kAbsent || is_permuted(graph, weight)) return false;
  if (!rewriter.used_once(weight) || !rewriter.used_once(parameter)) return false;
  CAPRA_ASSIGN(const bool given, is_given(graph, parameter));
  return !given;
}

std::vector<int64_t> last_two_swapped(int64_t rank) {
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 2], axes[axes.size() - 1]);
  return axes;
}

Result<Graph> store(const Graph& graph, PassContext& context, std::string_view pass,
                    bool transposed) {
  GraphRewriter rewriter(graph);
  try {
    for (NodeId id = 0; id < graph.size(); ++id) {
      CAPRA_ASSIGN(const bool is_other, has_other_layout(rewriter, id, transposed));
      if (!is_other) {
        rewriter.copy(id);
        continue;
      }
      const NodeId weight = operand(graph, id, 1);
      const TensorType& type = graph.node(weight).type;
      const NodeId stored = append_prepared(rewriter, weight, kPermute,
                                            pack(PermuteAttrs{last_two_swapped(type.shape.rank())}),
                                            graph.node(id).path);
      auto attrs = graph.node(id).attrs_as<MatmulAttrs>();
      attrs.transpose_b = transposed;
      rewriter.splice(id, [&] {
        return matmul(rewriter.tensor(operand(graph, id, 0)), rewriter.result_tensor(stored),
                      attrs);
      });
      const NodeId parameter = parameter_of(graph, weight);
      context.report.rewrites.push_back(
          {std::string(pass), "weight-layout", node_label(graph, id),
           forms_note(graph.node(parameter).attrs_as<ParameterAttrs>().path + " " + type.text(),
                      "stored as " + rewriter.result().node(stored).type.text())});
    }
  } catch (const Error& error) {
    return fail(error.diagnostic());
  }
  return std::move(rewriter).finish();
}

Result<Graph> store_kn(const Graph& graph, PassContext& context) {
  return store(graph, context, kStoreWeightsKn.name, false);
}
Result<Graph> store_nk(const Graph& graph, PassContext& context) {
  return store(graph, context, kStoreWeightsNk.name, true);
}

}  // namespace

const Pass kStoreWeightsKn{
    "store-weights-kn",
    "Stores the weights of products as [k, n], so that no product reads them transposed.",
    NumericEffect::Exact, store_kn};

const Pass kStoreWeightsNk{"store-weights-nk",
                           "Stores the weights of products as [n, k], one row for each output.",
                           NumericEffect::Exact, store_nk};

}  // namespace capra
