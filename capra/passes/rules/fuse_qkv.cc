// Query, key and value of an attention as one product, and the attention over its parts.
#include <algorithm>
#include <array>
#include <optional>

#include "capra/ir/structural_ops.h"
#include "capra/ops/attention.h"
#include "capra/ops/concat.h"
#include "capra/ops/constant.h"
#include "capra/ops/linear.h"
#include "capra/ops/permute.h"
#include "capra/ops/reshape.h"
#include "capra/ops/slice.h"
#include "capra/passes/fusion_labels.h"
#include "capra/passes/passes.h"
#include "capra/passes/rewrite_forms.h"
#include "capra/passes/rule.h"

namespace capra {
namespace {

/// The linear that an operand of an attention comes from, looked at through reshapes and permutes.
NodeId projection(const Graph& graph, NodeId id) {
  while (is_op(graph, id, kReshape) || is_op(graph, id, kPermute)) id = operand(graph, id, 0);
  return is_op(graph, id, kLinear) ? id : kAbsent;
}

using Projections = std::array<NodeId, 3>;

/// Three different linears on one input that feed q, k and v of one attention. Linears that merely
/// read the same value are no QKV.
std::optional<Projections> match_projections(const Graph& graph, NodeId attention) {
  if (!is_op(graph, attention, kAttention)) return std::nullopt;
  Projections found{};
  for (size_t i = 0; i < 3; ++i) {
    found[i] = projection(graph, operand(graph, attention, i));
    if (found[i] == kAbsent) return std::nullopt;
  }
  const auto [q, k, v] = found;
  if (q == k || q == v || k == v) return std::nullopt;
  const bool bias = operand(graph, q, 2) != kAbsent;
  for (const NodeId part : {k, v}) {
    if (operand(graph, part, 0) != operand(graph, q, 0)) return std::nullopt;
    if ((operand(graph, part, 2) != kAbsent) != bias) return std::nullopt;
  }
  // Everything must exist where the first of them stands; weights can move there, inputs may not
  // change their order.
  const NodeId first = std::min({q, k, v});
  for (const NodeId part : found) {
    for (const size_t index : {size_t{1}, size_t{2}}) {
      const NodeId value = operand(graph, part, index);
      if (value == kAbsent || value < first) continue;
      if (!is_op(graph, value, kParameter) && !is_op(graph, value, kConstant)) return std::nullopt;
    }
  }
  for (const NodeId part : found) {
    const Shape& shape = graph.node(part).type.shape;
    if (!shape[shape.rank() - 1].is_static()) return std::nullopt;
  }
  return found;
}

/// Columns [start, limit) of a value.
Tensor columns(const Tensor& x, int64_t start, int64_t limit) {
  const int64_t rank = x.shape().rank();
  SliceAttrs attrs{.starts = std::vector<int64_t>(static_cast<size_t>(rank), 0),
                   .limits = x.shape(),
                   .strides = std::vector<int64_t>(static_cast<size_t>(rank), 1)};
  attrs.starts.back() = start;
  attrs.limits[rank - 1] = limit;
  return slice(x, attrs);
}

void fuse_projections(GraphRewriter& rewriter, const Projections& parts) {
  const Graph& graph = rewriter.source();
  constexpr std::array<const char*, 3> kWeights = {"weight_q", "weight_k", "weight_v"};
  constexpr std::array<const char*, 3> kBiases = {"bias_q", "bias_k", "bias_v"};
  GroupBuilder group(rewriter, kFusedQkv);
  const NodeId x = group.input("x", operand(graph, parts[0], 0));
  std::array<NodeId, 3> weights{};
  std::array<NodeId, 3> biases{};
  for (size_t i = 0; i < 3; ++i) {
    weights[i] = group.input(kWeights[i], operand(graph, parts[i], 1));
  }
  for (size_t i = 0; i < 3; ++i) {
    biases[i] = group.input(kBiases[i], operand(graph, parts[i], 2));
  }
  std::vector<NodeId> products;
  for (size_t i = 0; i < 3; ++i) {
    std::vector<NodeId> operands{x, weights[i]};
    if (biases[i] != kAbsent) operands.push_back(biases[i]);
    products.push_back(group.copy(parts[i], std::move(operands)));
  }
  const std::string& path = graph.node(parts[0]).path;
  const int64_t last = graph.node(parts[0]).type.shape.rank() - 1;
  const NodeId joined = group.call(kConcat, std::move(products), pack(ConcatAttrs{last}), path);
  const NodeId fused = group.finish(joined, path);

  int64_t start = 0;
  for (const NodeId part : parts) {
    const int64_t limit = start + graph.node(part).type.shape[last].size();
    rewriter.splice_without_notes(
        part, [&] { return columns(rewriter.result_tensor(fused), start, limit); });
    start = limit;
  }
}

Result<Graph> run_qkv(const Graph& graph, PassContext& context) {
  GraphRewriter rewriter(graph);
  // A group stands where the first of its linears stood, so the attentions are looked at before.
  std::vector<std::pair<NodeId, Projections>> found;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const std::optional<Projections> parts = match_projections(graph, id);
    if (!parts) continue;
    const bool taken = std::ranges::any_of(found, [&](const auto& other) {
      return std::ranges::find_first_of(other.second, *parts) != other.second.end();
    });
    if (taken) continue;
    found.emplace_back(std::ranges::min(*parts), *parts);
    context.report.rewrites.push_back({std::string(kFuseQkv.name), "qkv", node_label(graph, id),
                                       forms_note("linear, linear, linear", "group qkv")});
  }
  try {
    for (NodeId id = 0; id < graph.size(); ++id) {
      for (const auto& [first, parts] : found) {
        if (first == id) fuse_projections(rewriter, parts);
      }
      rewriter.copy(id);
    }
  } catch (const Error& error) {
    return fail(error.diagnostic());
  }
  return std::move(rewriter).finish();
}

/// The columns [start, limit) of `source` that an operand of an attention is made of.
struct Part {
  NodeId reshaped = kAbsent;
  NodeId sliced = kAbsent;
  NodeId source = kAbsent;
  int64_t start = 0;
  int64_t limit = 0;
};

/// reshape(columns of source [tokens, n]) as [tokens, heads, head_dim], read by the attention only.
std::optional<Part> match_part(const GraphRewriter& rewriter, NodeId id) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, id, kReshape) || !rewriter.used_once(id)) return std::nullopt;
  const NodeId sliced = operand(graph, id, 0);
  if (!is_op(graph, sliced, kSlice) || !rewriter.used_once(sliced)) return std::nullopt;
  const NodeId source = operand(graph, sliced, 0);
  const Shape& shape = graph.node(source).type.shape;
  const Shape& heads = graph.node(id).type.shape;
  const auto attrs = graph.node(sliced).attrs_as<SliceAttrs>();
  if (shape.rank() != 2 || heads.rank() != 3 || heads[0] != shape[0]) return std::nullopt;
  if (attrs.starts[0] != 0 || attrs.limits[0] != shape[0]) return std::nullopt;
  for (const int64_t stride : attrs.strides) {
    if (stride != 1) return std::nullopt;
  }
  if (!attrs.limits[1].is_static()) return std::nullopt;
  return Part{id, sliced, source, attrs.starts[1], attrs.limits[1].size()};
}

// attention(q, k, v) of three neighbouring ranges of columns of one value, in this order, all of it
bool attention_qkv(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, root, kAttention)) return false;
  std::array<Part, 3> parts;
  int64_t start = 0;
  for (size_t i = 0; i < 3; ++i) {
    const std::optional<Part> part = match_part(rewriter, operand(graph, root, i));
    if (!part || part->start != start) return false;
    if (i > 0 && part->source != parts[0].source) return false;
    parts[i] = *part;
    start = part->limit;
  }
  if (graph.node(parts[0].source).type.shape[1] != Dim(start)) return false;

  GroupBuilder group(rewriter, kFusedAttentionQkv);
  const NodeId qkv = group.input("qkv", parts[0].source);
  const NodeId offsets = group.input("offsets", operand(graph, root, 3));
  const NodeId lengths = group.input("key_lengths", operand(graph, root, 4));
  const NodeId mask = group.input("mask", operand(graph, root, 5));
  std::vector<NodeId> operands;
  operands.reserve(6);
  for (const Part& part : parts) operands.push_back(group.copy(part.sliced, {qkv}));
  for (size_t i = 0; i < 3; ++i) operands[i] = group.copy(parts[i].reshaped, {operands[i]});
  for (const NodeId extra : {offsets, lengths, mask}) operands.push_back(extra);
  while (operands.back() == kAbsent) operands.pop_back();
  group.finish_for(root, group.copy(root, std::move(operands)));
  return true;
}

constexpr Rule kAttentionRules[] = {{"attention-qkv", attention_qkv}};

Result<Graph> run_attention(const Graph& graph, PassContext& context) {
  return apply_rules(graph, context, kFuseAttentionQkv.name, kAttentionRules);
}

}  // namespace

const Pass kFuseQkv{"fuse-qkv",
                    "Makes the three linears that feed an attention from one value one product.",
                    NumericEffect::Exact, run_qkv};
const Pass kFuseAttentionQkv{
    "fuse-attention-qkv",
    "Groups an attention with the slices of one value that are its query, key and value.",
    NumericEffect::Exact, run_attention};

}  // namespace capra
