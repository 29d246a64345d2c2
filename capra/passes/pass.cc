// Names of effects and nodes; the approximations of a graph.
#include "capra/passes/pass.h"

#include <algorithm>
#include <iterator>

#include "capra/base/number_text.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"

namespace capra {
namespace {

std::string text_of(const Note* note) {
  const auto* text = note == nullptr ? nullptr : std::get_if<std::string>(&note->value);
  return text == nullptr ? std::string() : *text;
}

double number_of(const Note* note) {
  const auto* number = note == nullptr ? nullptr : std::get_if<double>(&note->value);
  return number == nullptr ? 0 : *number;
}

// The dtype of the first float operand, or of the result.
DType computed_in(const Graph& graph, const Node& node) {
  for (const NodeId operand : node.operands) {
    if (operand == kAbsent) continue;
    const DType dtype = graph.node(operand).type.dtype;
    if (is_float(dtype)) return dtype;
  }
  return node.type.dtype;
}

// `gelu(approximate=true)`.
std::string attrs_text(const Node& node) {
  std::string text;
  for (size_t i = 0; i < node.attrs.size(); ++i) {
    text += (i == 0 ? "(" : ", ") + std::string(node.op->attrs.fields[i].name) + "=" +
            print_attr(node.attrs[i]);
  }
  return std::string(node.op->name) + (text.empty() ? "" : text + ")");
}

// What runs: as the note says, or the node; one that narrows also says to what.
std::string now_text(const Graph& graph, const Node& node) {
  if (const Note* to = find_note(node, "legalizedTo")) return text_of(to);
  std::string text = attrs_text(node);
  if (number_of(find_note(node, "maxRelError")) > 0) {
    text += " in " + std::string(dtype_name(computed_in(graph, node)));
  }
  return text;
}

void collect(const Graph& graph, std::vector<Approximation>& found) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (node.body != nullptr) collect(*node.body, found);
    const Note* from = find_note(node, "legalizedFrom");
    if (from == nullptr) continue;
    found.push_back({.node = node_label(graph, id),
                     .legalized_from = text_of(from),
                     .legalized_to = now_text(graph, node),
                     .reason = text_of(find_note(node, "reason")),
                     .max_abs_error = number_of(find_note(node, "maxAbsError")),
                     .max_rel_error = number_of(find_note(node, "maxRelError"))});
  }
}

}  // namespace

std::string_view numeric_effect_name(NumericEffect effect) {
  switch (effect) {
    case NumericEffect::Exact:
      return "exact";
    case NumericEffect::Meaning:
      return "meaning";
    case NumericEffect::Approximate:
      return "approximate";
  }
  return "";
}

void PassReport::append(PassReport&& later) {
  std::ranges::move(later.changes, std::back_inserter(changes));
  std::ranges::move(later.rewrites, std::back_inserter(rewrites));
  std::ranges::move(later.lines, std::back_inserter(lines));
}

std::vector<Approximation> approximations(const Graph& graph) {
  std::vector<Approximation> found;
  collect(graph, found);
  return found;
}

std::string node_label(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.path.empty()) return node.path;
  return "%" + (node.name.empty() ? number_text(id) : node.name);
}

}  // namespace capra
