// The rules of each op of the chip's graphs.
#include "capra/targets/ga2/network.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "capra/base/number_text.h"

namespace capra::ga2 {
namespace {

Failure refuse(std::string message, std::string help) {
  return fail("network-invalid", std::move(message), {}, std::move(help));
}

}  // namespace

std::string_view node_op_name(NodeOp op) {
  switch (op) {
    case NodeOp::Input:
      return "input";
    case NodeOp::Weight:
      return "weight";
    case NodeOp::Matmul:
      return "matmul";
    case NodeOp::Softmax:
      return "softmax";
    case NodeOp::Add:
      return "add";
    case NodeOp::Relu:
      return "relu";
    case NodeOp::Concat:
      return "concat";
    case NodeOp::Slice:
      return "slice";
    case NodeOp::Argmax:
      return "argmax";
    case NodeOp::Output:
      return "output";
  }
  CAPRA_CHECK(false);
}

std::string extents_text(const Extents& shape) {
  return "(" + number_text(shape.rows) + ", " + number_text(shape.columns) + ")";
}

std::vector<std::vector<NodeIndex>> Network::users() const {
  std::vector<std::vector<NodeIndex>> users(nodes_.size());
  for (NodeIndex i = 0; i < size(); ++i) {
    for (const NodeIndex operand : node(i).operands)
      users[static_cast<size_t>(operand)].push_back(i);
  }
  return users;
}

Status Network::check_operand(NodeIndex operand) const {
  if (operand >= 0 && operand < size()) return {};
  return refuse("an operand is node " + number_text(operand) + ", there are " +
                    number_text(size()) + " nodes before this one",
                "operands come before their users");
}

// Memory is laid out by names.
Status Network::check_new_name(const std::string& name) const {
  if (!name.empty() && std::ranges::find(nodes_, name, &NetworkNode::name) == nodes_.end())
    return {};
  return refuse(name.empty() ? "an input, weight or output has no name"
                             : "two of the inputs, weights and outputs are called " + name,
                "give each a name of its own");
}

Result<NodeIndex> Network::append(NetworkNode node) {
  for (const NodeIndex operand : node.operands) {
    // An index says where something is; only its place is left to compute with.
    if (this->node(operand).op == NodeOp::Argmax && node.op != NodeOp::Output) {
      return refuse(std::string(node_op_name(node.op)) + " of the indices of node " +
                        number_text(operand) + " (argmax)",
                    "an argmax can only be an output");
    }
    if (this->node(operand).op == NodeOp::Output) {
      return refuse(std::string(node_op_name(node.op)) + " of node " + number_text(operand) +
                        ", which is an output",
                    "use what the output was given");
    }
  }
  if (node.shape.rows > kMostElements / node.shape.columns) {
    return refuse(std::string(node_op_name(node.op)) + " of shape " + extents_text(node.shape),
                  "no tensor of so many elements fits the chip");
  }
  const bool is_view = node.op == NodeOp::Slice || node.op == NodeOp::Output;
  narrow_.push_back(is_view ? is_narrow(node.operands[0])
                            : node.op == NodeOp::Weight && node.bits == 4);
  nodes_.push_back(std::move(node));
  return size() - 1;
}

Result<NodeIndex> Network::input(std::string name, Extents shape) {
  CAPRA_TRY(check_new_name(name));
  if (shape.rows < 1 || shape.columns < 1) {
    return refuse("input " + name + ": shape " + extents_text(shape), "extents are 1 or more");
  }
  return append({.op = NodeOp::Input, .operands = {}, .shape = shape, .name = std::move(name)});
}

Result<NodeIndex> Network::weight(std::string name, Matrix<double> values, int bits) {
  CAPRA_TRY(check_new_name(name));
  if (bits != 4 && bits != 8)
    return refuse("weight " + name + ": bits must be 4 or 8", "give 4 or 8");
  const Extents shape{values.rows, values.columns};
  if (values.values.empty()) return refuse("weight " + name + ": no values", "give one or more");
  if (!std::ranges::all_of(values.values, [](double value) { return std::isfinite(value); })) {
    return refuse("weight " + name + ": a value is not finite", "correct the weights");
  }
  return append({.op = NodeOp::Weight,
                 .operands = {},
                 .shape = shape,
                 .name = std::move(name),
                 .weights = std::move(values),
                 .bits = bits});
}

Result<NodeIndex> Network::matmul(NodeIndex a, NodeIndex b, bool transpose_b, double factor) {
  CAPRA_TRY(check_operand(a));
  CAPRA_TRY(check_operand(b));
  const Extents x = node(a).shape;
  const Extents y = node(b).shape;
  const Extents turned = transpose_b ? Extents{y.columns, y.rows} : y;
  if (x.columns != turned.rows) {
    return refuse(
        "matmul shapes " + extents_text(x) + " x " + extents_text(y) + (transpose_b ? "^T" : ""),
        "the first operand has as many columns as the second has rows");
  }
  if (!std::isfinite(factor))
    return refuse("matmul: the factor is not finite", "correct the factor");
  return append({.op = NodeOp::Matmul,
                 .operands = {a, b},
                 .shape = {x.rows, turned.columns},
                 .transpose_b = transpose_b,
                 .factor = factor});
}

Result<NodeIndex> Network::softmax(NodeIndex a) {
  CAPRA_TRY(check_operand(a));
  return append({.op = NodeOp::Softmax, .operands = {a}, .shape = node(a).shape});
}

Result<NodeIndex> Network::add(NodeIndex a, NodeIndex b) {
  CAPRA_TRY(check_operand(a));
  CAPRA_TRY(check_operand(b));
  if (node(a).shape != node(b).shape) return refuse("add: shapes differ", "give equal shapes");
  return append({.op = NodeOp::Add, .operands = {a, b}, .shape = node(a).shape});
}

Result<NodeIndex> Network::relu(NodeIndex a) {
  CAPRA_TRY(check_operand(a));
  return append({.op = NodeOp::Relu, .operands = {a}, .shape = node(a).shape});
}

Result<NodeIndex> Network::concat_rows(NodeIndex a, NodeIndex b) {
  CAPRA_TRY(check_operand(a));
  CAPRA_TRY(check_operand(b));
  const Extents x = node(a).shape;
  const Extents y = node(b).shape;
  if (x.columns != y.columns) {
    return refuse("concat_rows: widths differ", "give operands of equal width");
  }
  return append({.op = NodeOp::Concat, .operands = {a, b}, .shape = {x.rows + y.rows, x.columns}});
}

Result<NodeIndex> Network::slice_rows(NodeIndex a, int64_t start, int64_t count) {
  CAPRA_TRY(check_operand(a));
  const Extents x = node(a).shape;
  if (count < 1 || start < 0 || start > x.rows || count > x.rows - start) {
    // In 64 bits without a sign the sum wraps; such a slice is refused anyway.
    const auto last =
        static_cast<int64_t>(static_cast<uint64_t>(start) + static_cast<uint64_t>(count) - 1);
    return refuse("slice_rows: rows " + number_text(start) + ".." + number_text(last) +
                      " do not lie inside a tensor of " + number_text(x.rows) + " rows",
                  "give a start and a count of rows that are there");
  }
  return append(
      {.op = NodeOp::Slice, .operands = {a}, .shape = {count, x.columns}, .start = start});
}

Result<NodeIndex> Network::argmax(NodeIndex a) {
  CAPRA_TRY(check_operand(a));
  return append({.op = NodeOp::Argmax, .operands = {a}, .shape = {node(a).shape.rows, 1}});
}

Result<NodeIndex> Network::output(NodeIndex a, std::string name) {
  CAPRA_TRY(check_operand(a));
  CAPRA_TRY(check_new_name(name));
  return append(
      {.op = NodeOp::Output, .operands = {a}, .shape = node(a).shape, .name = std::move(name)});
}

void Network::tag(NodeIndex node, std::string name) {
  nodes_[static_cast<size_t>(node)].tag = std::move(name);
}

}  // namespace capra::ga2
