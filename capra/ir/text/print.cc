// The canonical text of graphs, tapes and nodes.
#include <map>

#include "capra/base/number_text.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ir/text/values.h"

namespace capra {
namespace {

// What each value is called: its name where it is an identifier and the only one, else its number.
std::vector<std::string> value_names(const Graph& graph) {
  std::map<std::string_view, int> uses;
  for (const Node& node : graph.nodes()) {
    if (node.op != &kOutput) ++uses[node.name];
  }
  std::vector<std::string> names;
  names.reserve(graph.nodes().size());
  for (const Node& node : graph.nodes()) {
    const bool named = is_identifier(node.name) && uses[node.name] == 1;
    names.push_back("%" + (named ? node.name : number_text(names.size())));
  }
  return names;
}

void append_list(std::string& text, const std::vector<std::string>& parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += ", ";
    text += parts[i];
  }
}

void append_attrs(std::string& text, const Node& node) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < node.attrs.size() && i < node.op->attrs.fields.size(); ++i) {
    const AttrField& field = node.op->attrs.fields[i];
    if (field.kind == AttrKind::ResultType) continue;
    parts.push_back(std::string(field.name) + " = " + print_attr(node.attrs[i]));
  }
  if (parts.empty()) return;
  text += " {";
  append_list(text, parts);
  text += "}";
}

void append_notes(std::string& text, const Node& node) {
  if (node.notes.empty()) return;
  std::vector<std::string> parts;
  parts.reserve(node.notes.size());
  for (const Note& note : node.notes) parts.push_back(note_text(note));
  text += " !{";
  append_list(text, parts);
  text += "}";
}

void append_body(std::string& text, const Graph& graph, const std::string& indent);

void append_node(std::string& text, const Graph& graph, NodeId id,
                 const std::vector<std::string>& names, const std::string& indent) {
  const Node& node = graph.node(id);
  if (node.op != &kOutput) text += names[static_cast<size_t>(id)] + " = ";
  text += node.op->name;
  for (const NodeId operand : node.operands) {
    text += ' ';
    text += operand == kAbsent ? "_" : names[static_cast<size_t>(operand)];
  }
  append_attrs(text, node);
  if (node.op != &kOutput) text += " : " + node.type.text();
  if (!node.path.empty()) text += " @ " + quoted(node.path);
  append_notes(text, node);
  if (node.body != nullptr) {
    text += " body @" + identifier_or_quoted(node.body->name()) + " {\n";
    append_body(text, *node.body, indent + "  ");
    text += indent + "}";
  }
}

void append_body(std::string& text, const Graph& graph, const std::string& indent) {
  const std::vector<std::string> names = value_names(graph);
  for (NodeId id = 0; id < graph.size(); ++id) {
    text += indent;
    append_node(text, graph, id, names, indent);
    text += '\n';
  }
}

std::string print(std::string_view keyword, const Graph& graph) {
  std::string text(keyword);
  text += " @" + identifier_or_quoted(graph.name()) + " {\n";
  append_body(text, graph, "  ");
  return text + "}\n";
}

}  // namespace

std::string print_graph(const Graph& graph) { return print("graph", graph); }

std::string print_tape(const Tape& tape) { return print("tape", build_graph(tape)); }

std::string print_node(const Graph& graph, NodeId id) {
  std::string text;
  append_node(text, graph, id, value_names(graph), "");
  return text;
}

}  // namespace capra
