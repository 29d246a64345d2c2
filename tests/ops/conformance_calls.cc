// Classes of shapes, structured calls, and the data they need.
#include "tests/ops/conformance_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"

namespace capra {

Result<Graph> graph_of(const Call& call) {
  Graph graph;
  std::vector<NodeId> operands;
  for (size_t i = 0; i < call.types.size(); ++i) {
    if (call.absent[i]) {
      operands.push_back(kAbsent);
      continue;
    }
    const InputAttrs attrs{fmt::format("x{}", i), call.types[i]};
    operands.push_back(
        graph.append({.op = &kInput, .operands = {}, .attrs = pack(attrs), .type = call.types[i]}));
  }
  while (!operands.empty() && operands.back() == kAbsent) operands.pop_back();
  CAPRA_ASSIGN(Attrs attrs, parse_attrs(call.attrs, call.op->attrs));
  CAPRA_ASSIGN(const NodeId result, graph.append_call(*call.op, operands, std::move(attrs)));
  CAPRA_TRY(graph.append_call(kOutput, {result}, pack(OutputAttrs{"result"})));
  return graph;
}

std::string text_of(const Call& call) {
  std::string text(call.op->name);
  for (size_t i = 0; i < call.types.size(); ++i) {
    text += call.absent[i] ? " _" : " " + call.types[i].text();
  }
  return text + (call.attrs.empty() ? "" : " {" + call.attrs + "}");
}

namespace {

struct ShapeClass {
  std::string_view name;
  Shape first;
  Shape others;
};

const std::vector<ShapeClass>& shape_classes() {
  static const std::vector<ShapeClass> classes = {
      {"scalar", {}, {}},
      {"one", {1}, {1}},
      {"vector", {16}, {16}},
      {"odd", {3, 37}, {3, 37}},
      {"empty", {2, 0}, {2, 0}},
      {"broadcast rows", {5, 19}, {19}},
      {"broadcast both", {4, 1, 7}, {3, 1}},
      {"large", {67, 515}, {67, 515}},
  };
  return classes;
}

// Structured calls, one a line: op, attributes, operand shapes. Every op whose operands cannot all
// have one shape is here.
struct Line {
  std::string_view op;
  std::string_view attrs;
  std::vector<std::optional<Shape>> shapes;  ///< nothing where an optional operand is absent
};

const std::vector<Line>& lines() {
  constexpr auto kNone = std::nullopt;
  static const std::vector<Line> all = {
      {"matmul", "", {Shape{1, 1}, Shape{1, 1}}},
      {"matmul", "", {Shape{17, 70}, Shape{70, 33}}},
      {"matmul", "transpose_b = true, factor = 0.125", {Shape{2, 5, 64}, Shape{2, 9, 64}}},
      {"matmul", "transpose_a = true", {Shape{129, 6}, Shape{129, 3}}},
      {"matmul", "transpose_a = true, transpose_b = true", {Shape{3, 65, 4}, Shape{5, 65}}},
      {"matmul", "", {Shape{2, 1, 3, 4}, Shape{5, 4, 6}}},
      {"matmul", "", {Shape{3, 0}, Shape{0, 4}}},
      {"matmul", "", {Shape{0, 3}, Shape{3, 4}}},
      {"matmul", "transpose_b = true", {Shape{9, 7}, Shape{1, 7}}},
      {"matmul", "transpose_a = true", {Shape{11, 1}, Shape{11, 3}}},
      {"matmul", "", {Shape{2, 9, 8}, Shape{8, 1}}},
      {"matmul", "transpose_b = true", {Shape{1, 1}, Shape{5, 1}}},
      {"linear", "", {Shape{7, 96}, Shape{50, 96}, Shape{50}}},
      {"linear", "", {Shape{2, 3, 65}, Shape{4, 65}}},
      {"linear", "", {Shape{2, 0}, Shape{3, 0}, Shape{3}}},
      {"linear", "", {Shape{7, 3}, Shape{1, 3}, Shape{1}}},
      {"layer_norm", "eps = 1e-12", {Shape{5, 384}, Shape{384}, Shape{384}}},
      {"layer_norm", "", {Shape{2, 3, 17}}},
      {"layer_norm", "eps = 0.001", {Shape{3, 33}, Shape{33}}},
      {"softmax", "", {Shape{4, 129}}},
      {"softmax", "axis = 0", {Shape{5, 7}}},
      {"softmax", "axis = -2", {Shape{2, 33, 3}}},
      {"sum", "axes = [0]", {Shape{65, 3}}},
      {"sum", "axes = [0, 2], keep_dims = true", {Shape{3, 4, 37}}},
      {"mean", "axes = [-1]", {Shape{3, 65}}},
      {"mean", "axes = [0, 2]", {Shape{3, 4, 37}}},
      {"variance", "axes = [-1], keep_dims = true", {Shape{3, 65}}},
      {"max", "axes = [1]", {Shape{3, 65}}},
      {"max", "axes = [0]", {Shape{0, 3}}},
      {"argmax", "axis = 0", {Shape{65, 3}}},
      {"argmax", "axis = -1, keep_dims = true", {Shape{3, 65}}},
      {"permute", "axes = [2, 0, 1]", {Shape{3, 4, 5}}},
      {"reshape", "shape = [6, 10]", {Shape{3, 4, 5}}},
      {"broadcast", "shape = [2, 3, 5]", {Shape{3, 1}}},
      {"slice", "starts = [1, 0], limits = [5, 7], strides = [2, 3]", {Shape{6, 9}}},
      {"concat", "axis = 1", {Shape{3, 2}, Shape{3, 0}, Shape{3, 5}}},
      {"select", "", {Shape{3, 1}, Shape{7}, Shape{3, 7}}},
      {"attention", "", {Shape{5, 2, 32}, Shape{9, 2, 32}, Shape{9, 2, 32}}},
      {"attention", "causal = true", {Shape{5, 4, 16}, Shape{9, 2, 16}, Shape{9, 2, 24}}},
      {"attention",
       "causal = true, scale = 0.25",
       {Shape{70, 3, 32}, Shape{70, 3, 32}, Shape{70, 3, 32}}},
      {"attention", "", {Shape{40, 2, 32}, Shape{40, 2, 32}, Shape{40, 2, 32}, Shape{5}}},
      {"attention",
       "causal = true",
       {Shape{40, 2, 32}, Shape{40, 2, 32}, Shape{40, 2, 32}, Shape{5}, Shape{4}}},
      {"attention", "", {Shape{9, 2, 8}, Shape{70, 2, 8}, Shape{70, 2, 8}, kNone, Shape{1}}},
      {"attention",
       "causal = true",
       {Shape{9, 2, 8}, Shape{70, 1, 8}, Shape{70, 1, 8}, kNone, kNone, Shape{2, 1, 70}}},
      {"attention",
       "",
       {Shape{40, 2, 32}, Shape{40, 2, 32}, Shape{40, 2, 32}, Shape{5}, Shape{4}, Shape{40, 40}}},
  };
  return all;
}

// Attributes that make the auto-generated classes of an op legal, where the defaults do not.
std::vector<std::string> attrs_of_class(const OpDef& op, const Shape& shape) {
  std::vector<std::string> texts;
  if (op.name == "compare") {
    for (const char* direction : {"lt", "le", "gt", "ge", "eq", "ne"}) {
      texts.push_back(fmt::format("direction = \"{}\"", direction));
    }
  } else if (op.name == "gelu") {
    texts = {"approximate = true", "approximate = false"};
  } else if (op.name == "convert") {
    for (const DType dtype : all_dtypes()) {
      texts.push_back(fmt::format("dtype = {}", dtype_name(dtype)));
    }
  } else if (op.name == "reshape" || op.name == "broadcast") {
    texts.push_back("shape = " + shape.text());
  } else {
    texts.emplace_back();
  }
  return texts;
}

/// The dtypes of the operands when the op is tried on `dtype`: as in the first example that gives
/// the operand, with the dtype of the values exchanged (a condition or an index keeps its own).
std::vector<DType> operand_dtypes(const OpDef& op, size_t count, DType dtype) {
  std::vector<DType> dtypes(count, dtype);
  for (size_t i = 0; i < count; ++i) {
    for (const Example& example : op.examples) {
      if (i >= example.operands.size() || example.operands[i] == "_") continue;
      const DType own = parse_array(example.operands[i]).value_or_throw().dtype();
      const bool all_bool = example.operands.size() == 2 && own == DType::Bool;
      if (!is_float(own) && !all_bool && op.operands.size() > 1) dtypes[i] = own;
      break;
    }
  }
  return dtypes;
}

// Of ops without operands, whose attributes say the dtype of the result.
std::vector<std::string> attrs_of_source(const OpDef& op, DType dtype) {
  const std::string_view name = dtype_name(dtype);
  if (op.name == "iota") {
    return {fmt::format("dtype = {}, shape = [300]", name),
            fmt::format("dtype = {}, shape = [3, 70], axis = 1", name)};
  }
  std::string_view values = "[0, 1, 100]";
  if (is_float(dtype)) values = "[0.1, nan, -0]";
  if (dtype == DType::Bool) values = "[true, false, true]";
  return {fmt::format("value = {}[3] {}", name, values)};
}

size_t required_operands(const OpDef& op) {
  return static_cast<size_t>(std::ranges::count(op.operands, Arity::Required, &Operand::arity));
}

// A large table picked by as many indices would fill the memory.
constexpr int64_t kMostElements = int64_t{1} << 18;

}  // namespace

std::vector<Call> calls_of(const OpDef& op, DType dtype) {
  std::vector<Call> calls;
  const auto add = [&](std::string attrs, const std::vector<std::optional<Shape>>& shapes) {
    Call call{&op, std::move(attrs), {}, {}};
    const std::vector<DType> dtypes = operand_dtypes(op, shapes.size(), dtype);
    for (size_t i = 0; i < shapes.size(); ++i) {
      call.absent.push_back(!shapes[i].has_value());
      call.types.push_back({dtypes[i], shapes[i].value_or(Shape())});
    }
    const Result<Graph> graph = graph_of(call);
    if (!graph.ok()) return;
    const TensorType& result = graph->node(graph->outputs()[0]).type;
    if (*result.shape.elements() <= kMostElements) calls.push_back(std::move(call));
  };
  const size_t count = required_operands(op);
  for (const ShapeClass& shapes : shape_classes()) {
    if (count == 0) break;
    std::vector<std::optional<Shape>> operands(count, shapes.others);
    operands[0] = shapes.first;
    for (const std::string& attrs : attrs_of_class(op, shapes.first)) add(attrs, operands);
  }
  if (op.operands.empty()) {
    for (const std::string& attrs : attrs_of_source(op, dtype)) add(attrs, {});
  }
  for (const Line& line : lines()) {
    if (line.op == op.name) add(std::string(line.attrs), line.shapes);
  }
  return calls;
}

// Indices lie within what they index; offsets ascend to the number of tokens, with an empty
// sequence.
std::map<std::string, Array, std::less<>> given_data(const Call& call) {
  std::map<std::string, Array, std::less<>> given;
  const auto give = [&](size_t operand, auto value_at) {
    if (operand >= call.types.size() || call.absent[operand]) return;
    Array array = Array::zeros(call.types[operand].dtype, call.types[operand].shape.sizes());
    for (int64_t i = 0; i < array.elements(); ++i) array.set_i64(i, value_at(i));
    given[fmt::format("x{}", operand)] = array;
  };
  if (call.op->name == "gather") {
    const int64_t extent = std::max<int64_t>(call.types[0].shape[0].size(), 1);
    give(1, [&](int64_t i) { return i % extent; });
  }
  if (call.op->name == "attention") {
    const int64_t tokens = call.types[1].shape[0].size();
    constexpr int64_t kStarts[] = {0, 17, 17, 24};
    give(3, [&](int64_t i) { return i < 4 ? kStarts[i] : tokens; });
    constexpr int64_t kLengths[] = {5, 3, 0, 40};
    give(4, [&](int64_t i) { return kLengths[i]; });
  }
  return given;
}

}  // namespace capra
