// Names of effects and nodes; the approximations of a graph.
#include "capra/passes/pass.h"

#include <algorithm>
#include <iterator>

#include "capra/base/number_text.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/passes/rewrite_forms.h"

namespace capra {
namespace {

constexpr std::string_view kFrom = "legalizedFrom";

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

const Note* found_in(std::span<const Note> notes, std::string_view name) {
  const auto found = std::ranges::find(notes, name, &Note::name);
  return found == notes.end() ? nullptr : &*found;
}

// What runs: as a note says, or the node; one that narrows also says to what.
std::string now_text(const Graph& graph, const Node& node, std::span<const Note> notes) {
  if (const Note* to = found_in(notes, "legalizedTo")) return text_of(to);
  std::string text = attrs_text(node);
  if (number_of(found_in(notes, "maxRelError")) > 0) {
    text += " in " + std::string(dtype_name(computed_in(graph, node)));
  }
  return text;
}

// The notes of each approximation of a node: from one `legalizedFrom` to the next, the first with
// what stands before it.
std::vector<std::span<const Note>> records_of(const Node& node) {
  std::vector<std::span<const Note>> records;
  const std::span<const Note> notes = node.notes;
  size_t first = 0;
  bool is_open = false;
  for (size_t i = 0; i < notes.size(); ++i) {
    if (notes[i].name != kFrom) continue;
    if (is_open) {
      records.push_back(notes.subspan(first, i - first));
      first = i;
    }
    is_open = true;
  }
  if (is_open) records.push_back(notes.subspan(first));
  return records;
}

void collect(const Graph& graph, std::vector<Approximation>& found) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (node.body != nullptr) collect(*node.body, found);
    for (const std::span<const Note> notes : records_of(node)) {
      found.push_back({.node = node_label(graph, id),
                       .legalized_from = text_of(found_in(notes, kFrom)),
                       .legalized_to = now_text(graph, node, notes),
                       .reason = text_of(found_in(notes, "reason")),
                       .max_abs_error = number_of(found_in(notes, "maxAbsError")),
                       .max_rel_error = number_of(found_in(notes, "maxRelError"))});
    }
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
  std::ranges::move(later.merged, std::back_inserter(merged));
  std::ranges::move(later.lines, std::back_inserter(lines));
}

std::vector<Approximation> approximations(const Graph& graph) {
  std::vector<Approximation> found;
  collect(graph, found);
  return found;
}

std::vector<Approximation> approximations(std::span<const Rewrite> rewrites) {
  std::vector<Approximation> found;
  for (const Rewrite& rewrite : rewrites) {
    if (rewrite.effect != NumericEffect::Approximate) continue;
    const RewriteForms forms = forms_of(rewrite);
    found.push_back({.node = rewrite.node,
                     .legalized_from = std::string(forms.before),
                     .legalized_to = std::string(forms.after),
                     .reason = rewrite.reason,
                     .max_abs_error = rewrite.max_abs_error,
                     .max_rel_error = rewrite.max_rel_error});
  }
  return found;
}

Status complete_rewrites(PassReport& report, size_t first, const PassChange& change) {
  const auto unbounded = [&](const std::string& what, const std::string& at) {
    return fail({"approximation-unbounded", change.pass + ", an approximation, " + what, at,
                 "state max_abs_error or max_rel_error in the rewrite of each node", true});
  };
  const std::span<Rewrite> made = std::span(report.rewrites).subspan(first);
  if (made.empty() && change.effect == NumericEffect::Approximate) {
    return unbounded("changed the " + std::string(change.stage) + " and recorded nothing",
                     change.subject);
  }
  for (Rewrite& rewrite : made) {
    if (!rewrite.effect) rewrite.effect = change.effect;
    rewrite.list = change.list;
    const bool bounded = rewrite.max_abs_error > 0 || rewrite.max_rel_error > 0;
    if (rewrite.effect != NumericEffect::Approximate || bounded) continue;
    return unbounded("recorded a rewrite without a bound", rewrite.node);
  }
  return {};
}

std::string node_label(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!node.path.empty()) return node.path;
  return "%" + (node.name.empty() ? number_text(id) : node.name);
}

}  // namespace capra
