// Nodes of Model Explorer: groups become layers, edges lead past them.
#include "tools/capra/model_explorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "capra/base/number_text.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ops/constant.h"

namespace capra::driver {
namespace {

Json entry(std::string_view key, std::string value) {
  Json row = Json::object();
  row.set("key", key).set("value", std::move(value));
  return row;
}

std::string value_text(const AttrValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* array = std::get_if<Array>(&value)) {
    constexpr int64_t kMostElements = 16;
    if (array->elements() > kMostElements) return array->type().text();
  }
  return print_attr(value);
}

Json attrs_of(const Node& node) {
  Json attrs = Json::array();
  if (!node.name.empty()) attrs.push(entry("result", "%" + node.name));
  for (size_t i = 0; i < node.attrs.size(); ++i) {
    const AttrField& field = node.op->attrs.fields[i];
    if (field.kind != AttrKind::ResultType)
      attrs.push(entry(field.name, value_text(node.attrs[i])));
  }
  for (const Note& note : node.notes) {
    const std::string text = std::visit(
        [](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
            return value;
          } else {
            return number_text(value);
          }
        },
        note.value);
    attrs.push(entry(note.name, text));
  }
  return attrs;
}

Json output_of(const Node& node) {
  Json attrs = Json::array();
  attrs.push(entry("tensor_shape", node.type.text()));
  Json item = Json::object();
  item.set("id", "0").set("attrs", std::move(attrs));
  Json outputs = Json::array();
  outputs.push(std::move(item));
  return outputs;
}

// Appends the nodes of `graph`; `arguments` are the ids of what the inputs of a group's body stand
// for. Returns the id of what its first output gives.
std::string append_nodes(const Graph& graph, const std::string& id_prefix,
                         const std::string& group_layers, const std::vector<std::string>& arguments,
                         Json& nodes) {
  const bool is_body = !group_layers.empty();
  std::vector<std::string> ids(static_cast<size_t>(graph.size()));
  std::string result;
  size_t next_argument = 0;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    std::string& own = ids[static_cast<size_t>(id)];
    if (is_body && node.op == &kInput) {
      own = arguments[next_argument++];
      continue;
    }
    if (is_body && node.op == &kOutput) {
      result = ids[static_cast<size_t>(node.operands.front())];
      continue;
    }
    const std::string number = id_prefix + number_text(id);
    const std::string layers = is_body ? group_layers : module_layers(node.path);
    if (node.op == &kGroup) {
      std::vector<std::string> given;
      for (const NodeId operand : node.operands) {
        if (operand != kAbsent) given.push_back(ids[static_cast<size_t>(operand)]);
      }
      std::string layer = node.attrs_as<GroupAttrs>().label + "." + number;
      std::ranges::replace(layer, '/', '.');
      own =
          append_nodes(*node.body, number + ".",
                       layers.empty() ? layer : fmt::format("{}/{}", layers, layer), given, nodes);
      continue;
    }
    own = number;
    Json edges = Json::array();
    for (size_t i = 0; i < node.operands.size(); ++i) {
      if (node.operands[i] == kAbsent) continue;
      Json edge = Json::object();
      edge.set("sourceNodeId", ids[static_cast<size_t>(node.operands[i])]);
      edge.set("sourceNodeOutputId", "0");
      edges.push(edge.set("targetNodeInputId", number_text(i)));
    }
    Json row = Json::object();
    row.set("id", number).set("label", node.op->name).set("namespace", layers);
    row.set("attrs", attrs_of(node)).set("incomingEdges", std::move(edges));
    nodes.push(row.set("outputsMetadata", output_of(node)));
  }
  return result;
}

}  // namespace

std::string module_layers(std::string_view path) {
  std::string layers;
  char before = '.';  // what ends the part before
  while (!path.empty()) {
    const size_t end = std::min(path.find_first_of("./"), path.size());
    const std::string_view part = path.substr(0, end);
    if (!part.empty()) {
      const bool counts = before == '.' && std::isdigit(static_cast<unsigned char>(part[0])) != 0;
      if (!layers.empty()) layers += counts ? '.' : '/';
      layers += part;
    }
    if (end == path.size()) break;
    before = path[end];
    path.remove_prefix(end + 1);
  }
  return layers;
}

Json model_explorer_graph(const Graph& graph) {
  Json nodes = Json::array();
  append_nodes(graph, "", "", {}, nodes);
  Json document = Json::object();
  document.set("id", graph.name()).set("nodes", std::move(nodes));
  return document;
}

}  // namespace capra::driver
