// The three forms of a graph beside text.
#include "tools/capra/graph_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "capra/base/number_text.h"
#include "capra/io/xml_text.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ops/constant.h"

namespace capra::driver {
namespace {

// What a picture leaves out: weights would bury the computation.
bool is_drawn(const Node& node) { return node.op != &kParameter && node.op != &kConstant; }

// What a node is called in a picture.
std::string title(const Node& node) {
  if (node.op == &kInput) return "input " + node.attrs_as<InputAttrs>().name;
  if (node.op == &kOutput) return "output " + node.attrs_as<OutputAttrs>().name;
  const std::string label = node.op == &kGroup ? node.attrs_as<GroupAttrs>().label : "";
  return label.empty() ? std::string(node.op->name) : label;
}

// The ops of a group's body in order, and those of groups inside it in parentheses.
std::string body_text(const Graph& body) {
  std::string text;
  for (const Node& node : body.nodes()) {
    if (!is_drawn(node) || node.op == &kInput || node.op == &kOutput) continue;
    if (!text.empty()) text += ", ";
    text += node.op == &kGroup ? title(node) : std::string(node.op->name);
    if (node.body != nullptr) {
      text += " (";
      text += body_text(*node.body);
      text += ")";
    }
  }
  return text;
}

// Between quotes in DOT.
std::string dot_text(std::string_view text) {
  std::string out;
  for (const char c : printable_text(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

Json attrs_json(const Node& node) {
  Json attrs = Json::object();
  for (size_t i = 0; i < node.attrs.size(); ++i) {
    const AttrField& field = node.op->attrs.fields[i];
    if (field.kind != AttrKind::ResultType) {
      attrs.set(std::string(field.name), print_attr(node.attrs[i]));
    }
  }
  return attrs;
}

struct Placed {
  NodeId id;
  int layer;
  int column;
};

// The layer of a node is one more than the deepest of its drawn operands.
std::vector<Placed> place(const Graph& graph) {
  std::vector<int> layer(static_cast<size_t>(graph.size()), 0);
  std::vector<int> filled;
  std::vector<Placed> placed;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (!is_drawn(node)) continue;
    int depth = 0;
    for (const NodeId operand : node.operands) {
      if (operand == kAbsent || !is_drawn(graph.node(operand))) continue;
      depth = std::max(depth, layer[static_cast<size_t>(operand)] + 1);
    }
    layer[static_cast<size_t>(id)] = depth;
    if (filled.size() <= static_cast<size_t>(depth)) filled.resize(static_cast<size_t>(depth) + 1);
    placed.push_back({id, depth, filled[static_cast<size_t>(depth)]++});
  }
  return placed;
}

}  // namespace

Json graph_json(const Graph& graph) {
  Json nodes = Json::array();
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    Json row = Json::object();
    row.set("id", static_cast<int64_t>(id)).set("op", node.op->name);
    if (!node.name.empty()) row.set("name", node.name);
    Json operands = Json::array();
    for (const NodeId operand : node.operands) {
      operands.push(operand == kAbsent ? Json() : Json(static_cast<int64_t>(operand)));
    }
    row.set("operands", std::move(operands)).set("attrs", attrs_json(node));
    row.set("type", node.type.text());
    if (!node.path.empty()) row.set("path", node.path);
    if (!node.notes.empty()) {
      Json notes = Json::object();
      for (const Note& note : node.notes) {
        notes.set(note.name, std::visit([](const auto& value) { return Json(value); }, note.value));
      }
      row.set("notes", std::move(notes));
    }
    if (node.body != nullptr) row.set("body", graph_json(*node.body));
    nodes.push(std::move(row));
  }
  Json document = Json::object();
  document.set("name", graph.name()).set("nodes", std::move(nodes));
  return document;
}

std::string graph_dot(const Graph& graph) {
  std::string text = fmt::format("digraph \"{}\" {{\n  node [shape=box fontname=\"sans-serif\"];\n",
                                 dot_text(graph.name()));
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (!is_drawn(node)) continue;
    const std::string body = node.body == nullptr ? "" : dot_text(body_text(*node.body)) + "\\n";
    text += fmt::format("  n{} [label=\"{}\\n{}{}\"{}];\n", id, dot_text(title(node)), body,
                        node.type.text(), node.op == &kGroup ? " style=bold" : "");
    for (const NodeId operand : node.operands) {
      if (operand == kAbsent || !is_drawn(graph.node(operand))) continue;
      text += fmt::format("  n{} -> n{};\n", operand, id);
    }
  }
  return text + "}\n";
}

std::string graph_svg(const Graph& graph) {
  constexpr int kWidth = 220;
  constexpr int kHeight = 44;
  constexpr int kGapX = 24;
  constexpr int kGapY = 34;
  const std::vector<Placed> placed = place(graph);
  int layers = 0;
  int columns = 0;
  std::vector<std::pair<int, int>> corner(static_cast<size_t>(graph.size()), {-1, -1});
  for (const Placed& p : placed) {
    layers = std::max(layers, p.layer + 1);
    columns = std::max(columns, p.column + 1);
    corner[static_cast<size_t>(p.id)] = {kGapX + p.column * (kWidth + kGapX),
                                         kGapY + p.layer * (kHeight + kGapY)};
  }
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n<marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
      "markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M 0 0 L 8 4 L 0 8 z\" "
      "fill=\"#888\"/></marker>\n",
      kGapX + columns * (kWidth + kGapX), kGapY + layers * (kHeight + kGapY));
  for (const Placed& p : placed) {
    const auto [x, y] = corner[static_cast<size_t>(p.id)];
    for (const NodeId operand : graph.node(p.id).operands) {
      if (operand == kAbsent) continue;
      const auto [from_x, from_y] = corner[static_cast<size_t>(operand)];
      if (from_x < 0) continue;
      const int start_x = from_x + kWidth / 2;
      const int start_y = from_y + kHeight;
      std::string points = fmt::format("{},{}", start_x, start_y);
      // Past other layers it goes between two columns, where no box stands.
      if (y - start_y > kGapY) {
        const int lane = x - kGapX / 2;
        points += fmt::format(" {0},{1} {0},{2}", lane, start_y + kGapY / 2, y - kGapY / 2);
      }
      text += fmt::format(
          "<polyline points=\"{} {},{}\" fill=\"none\" stroke=\"#888\" "
          "marker-end=\"url(#arrow)\"/>\n",
          points, x + kWidth / 2, y);
    }
  }
  for (const Placed& p : placed) {
    const Node& node = graph.node(p.id);
    const auto [x, y] = corner[static_cast<size_t>(p.id)];
    text += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{}\" "
        "stroke=\"#333\"/>\n",
        x, y, kWidth, kHeight, node.op == &kGroup ? "#dce9f7" : "#f6f6f6");
    text += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                        x + kWidth / 2, y + 18, xml_text(title(node)));
    text += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555\" font-size=\"11\">{}</text>\n",
        x + kWidth / 2, y + 35, xml_text(node.type.text()));
  }
  return text + "</svg>\n";
}

}  // namespace capra::driver
