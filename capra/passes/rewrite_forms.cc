// The text of forms, there and back.
#include "capra/passes/rewrite_forms.h"

#include <variant>

#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"

namespace capra {
namespace {

constexpr std::string_view kArrow = " -> ";

}  // namespace

std::string form_text(const Node& node) {
  std::string text(node.op->name);
  if (node.op == &kGroup) return text + " " + node.attrs_as<GroupAttrs>().label;
  if (node.op == &kInput || node.op == &kParameter || node.op == &kOutput) return text;
  std::string attrs;
  for (size_t i = 0; i < node.attrs.size(); ++i) {
    if (std::holds_alternative<Array>(node.attrs[i])) continue;
    attrs += (attrs.empty() ? "" : ", ") + std::string(node.op->attrs.fields[i].name) + "=" +
             print_attr(node.attrs[i]);
  }
  return attrs.empty() ? text : text + "(" + attrs + ")";
}

std::string forms_note(std::string_view before, std::string_view after) {
  return std::string(before) + std::string(kArrow) + std::string(after);
}

RewriteForms forms_of(const Rewrite& rewrite) {
  const std::string_view note = rewrite.note;
  const size_t arrow = note.find(kArrow);
  if (arrow == std::string_view::npos) return {note, {}};
  return {note.substr(0, arrow), note.substr(arrow + kArrow.size())};
}

}  // namespace capra
