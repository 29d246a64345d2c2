// One node for equal nodes: equal op, operands, attributes and body. Parameters are equal when
// their bytes are; a path, a name or a shape alone proves nothing.
#include <unordered_map>

#include "capra/ir/structural_ops.h"
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/match.h"
#include "capra/passes/passes.h"
#include "capra/passes/rewrite_forms.h"

namespace capra {
namespace {

/// The data of a parameter node, if it is known.
const Array* data_of(const Node& node, const Parameters* parameters) {
  if (parameters == nullptr || node.op != &kParameter) return nullptr;
  const auto found = parameters->find(node.attrs_as<ParameterAttrs>().path);
  return found == parameters->end() ? nullptr : &found->second;
}

bool equal_bodies(const Graph& a, const Graph& b);

/// Equal but for name, path and notes; operands are compared as they stand.
bool equal_nodes(const Node& a, const Node& b) {
  if (a.op != b.op || a.operands != b.operands || a.type != b.type) return false;
  if (!attrs_equal(a.attrs, b.attrs)) return false;
  if ((a.body == nullptr) != (b.body == nullptr)) return false;
  return a.body == nullptr || equal_bodies(*a.body, *b.body);
}

bool equal_bodies(const Graph& a, const Graph& b) {
  if (a.size() != b.size()) return false;
  for (NodeId id = 0; id < a.size(); ++id) {
    if (!equal_nodes(a.node(id), b.node(id))) return false;
  }
  return true;
}

bool equal_parameters(const Node& a, const Node& b, const Parameters* parameters) {
  const Array* left = data_of(a, parameters);
  const Array* right = data_of(b, parameters);
  return a.type == b.type && left != nullptr && right != nullptr && *left == *right;
}

// Whoever keeps the data of `kept` for both has to know.
void note_merged(const Node& gone, const Node& kept, PassContext& context) {
  if (gone.op != &kParameter) return;
  const std::string path = gone.attrs_as<ParameterAttrs>().path;
  const std::string into = kept.attrs_as<ParameterAttrs>().path;
  if (path != into) context.report.merged.push_back({path, into});
}

uint64_t mix(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15U + (hash >> 29U);
}

/// Equal nodes have equal hashes. Parameters hash by type alone: their bytes are read only where
/// two types agree.
uint64_t hash_of(const Node& node) {
  uint64_t hash = reinterpret_cast<uintptr_t>(node.op);
  if (node.op == &kParameter) return mix(hash, std::hash<std::string>()(node.type.text()));
  for (const NodeId operand : node.operands) {
    hash = mix(hash, static_cast<uint64_t>(static_cast<int64_t>(operand)));
  }
  return mix(hash, attrs_hash(node.attrs));
}

Result<Graph> run(const Graph& graph, PassContext& context) {
  GraphRewriter rewriter(graph);
  const std::vector<bool> live = live_nodes(graph);
  std::unordered_multimap<uint64_t, NodeId> seen;  // values of the result
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (graph.node(id).op == &kInput || graph.node(id).op == &kOutput) {
      rewriter.copy(id);
      continue;
    }
    Node moved = graph.node(id);  // with the operands it would have in the result
    for (NodeId& operand : moved.operands) operand = rewriter.mapped(operand);
    const uint64_t hash = hash_of(moved);
    NodeId same = kAbsent;
    const auto [first, last] = seen.equal_range(hash);
    for (auto entry = first; entry != last; ++entry) {
      const Node& other = rewriter.result().node(entry->second);
      const bool equal = moved.op == &kParameter
                             ? equal_parameters(moved, other, context.parameters)
                             : equal_nodes(moved, other);
      // The earliest of several: the order within a bucket is the library's affair.
      if (equal && (same == kAbsent || entry->second < same)) same = entry->second;
    }
    if (same == kAbsent) {
      seen.emplace(hash, rewriter.copy(id));
      continue;
    }
    rewriter.replace(id, same);
    if (live[static_cast<size_t>(id)]) note_merged(moved, rewriter.result().node(same), context);
    context.report.rewrites.push_back(
        {std::string(kCommonSubexpressions.name), "equal-nodes", node_label(graph, id),
         forms_note(form_text(moved), "that of " + node_label(rewriter.result(), same))});
  }
  return std::move(rewriter).finish();
}

}  // namespace

const Pass kCommonSubexpressions{
    "common-subexpressions",
    "Computes equal nodes once; parameters are equal when their bytes are.", NumericEffect::Exact,
    run};

}  // namespace capra
