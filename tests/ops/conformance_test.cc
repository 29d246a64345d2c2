// Generated from the records: every op on every dtype it takes, over classes of shapes, on every
// target that can hold it, within the record's bound of the oracle; and the examples of every
// record, whose values come from outside, on the oracle and on cpu.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/shape_rules.h"
#include "capra/runtime/target.h"
#include "capra/targets/all_targets.h"
#include "tools/golden/execute.h"

namespace capra {
namespace {

using golden::DataKind;
using golden::RunData;

/// One call: an op on operands of these types.
struct Call {
  const OpDef* op;
  std::string attrs;
  std::vector<TensorType> types;
  std::vector<bool> absent;
};

// The call as a graph with inputs x0, x1, ... and the output `result`.
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

// The distance of `value` to the next number of the dtype, away from zero; the least one at zero.
double ulp(DType dtype, double value) {
  int digits = 53;
  int least = -1074;
  if (dtype == DType::F32) digits = 24, least = -149;
  if (dtype == DType::F16) digits = 11, least = -24;
  if (dtype == DType::BF16) digits = 8, least = -133;
  if (value == 0 || !std::isfinite(value)) return std::ldexp(1.0, least);
  return std::ldexp(1.0, std::max(std::ilogb(value) - digits + 1, least));
}

double largest(DType dtype) {
  if (dtype == DType::F16) return 65504;
  if (dtype == DType::BF16) return 3.3895313892515355e38;
  return dtype == DType::F32 ? std::numeric_limits<float>::max()
                             : std::numeric_limits<double>::max();
}

/// How far an element may be from the oracle's: the record's bound is for f32; f64 runs the same
/// order in f64, f16 and bf16 compute in f32 and round once more.
double allowed(const Accuracy& accuracy, DType dtype, double oracle, double magnitude) {
  const DType computed = dtype == DType::F64 ? DType::F64 : DType::F32;
  const double scale = accuracy.note == kOfMagnitudes ? magnitude : oracle;
  const double max_abs = computed == DType::F64 ? accuracy.max_abs * 0x1p-29 : accuracy.max_abs;
  // An oracle computes in double, so f64 is compared with a value that is itself rounded.
  const double own = computed == DType::F64 ? 2 : 0.01;
  double bound = std::max(max_abs, (accuracy.max_ulp + own) * ulp(computed, scale));
  if (dtype == DType::F16 || dtype == DType::BF16) bound += 0.51 * ulp(dtype, oracle);
  return bound;
}

bool within_bound(const Accuracy& accuracy, DType dtype, double found, double oracle,
                  double magnitude) {
  if (std::isnan(oracle)) return std::isnan(found);
  if (found == oracle)
    return oracle != 0 || std::signbit(found) == std::signbit(oracle) || accuracy.max_ulp > 0;
  if (std::isnan(found)) return false;
  const double bound = allowed(accuracy, dtype, oracle, magnitude);
  // Beyond the largest number, infinity is the correct rounding.
  if (std::isinf(found) && !std::isinf(oracle)) {
    return std::abs(oracle) + bound > largest(dtype) && std::signbit(found) == std::signbit(oracle);
  }
  return std::abs(found - oracle) <= bound;
}

RunData magnitudes(const RunData& data) {
  RunData positive;
  for (const auto& [name, array] : data.inputs) {
    Array copy = Array::zeros(array.dtype(), array.sizes());
    for (int64_t i = 0; i < array.elements(); ++i) {
      if (is_float(array.dtype())) {
        copy.set(i, std::abs(array.f64_at(i)));
      } else {
        copy.set_i64(i, array.i64_at(i));
      }
    }
    positive.inputs[name] = copy;
  }
  return positive;
}

/// The bound of the row that runs the call: the record's, or the row's own where it gives a reason.
Accuracy bound_of(const Target& target, const Graph& graph) {
  const Node& node = graph.node(graph.outputs()[0] - 1);
  std::vector<const TensorType*> types;
  for (const NodeId id : node.operands) {
    types.push_back(id == kAbsent ? nullptr : &graph.node(id).type);
  }
  const OpRow* row = target.table->find(*node.op, types, node.attrs, node.type);
  return row != nullptr && !row->accuracy_reason.empty() ? row->accuracy : node.op->accuracy;
}

/// Compares one call on a target with the oracle; counts calls that the target refuses by name.
class Comparison {
 public:
  explicit Comparison(const Target& target) : target_(target) {}

  void run(const Call& call, const RunData& data) {
    const Result<Graph> graph = graph_of(call);
    ASSERT_TRUE(graph.ok()) << text_of(call) << ": " << to_text(graph.error());
    const auto found = golden::run_on_target(target_.name, *graph, data);
    if (!found.ok()) {
      EXPECT_EQ(found.error().code, "op-unsupported") << text_of(call) << to_text(found.error());
      ++refused_[std::string(call.op->name)];
      return;
    }
    const auto oracle = golden::run_on_oracle(*graph, data);
    ASSERT_TRUE(oracle.ok()) << text_of(call) << ": " << to_text(oracle.error());
    const Accuracy accuracy = bound_of(target_, *graph);
    Array scale = oracle->at("result");
    if (accuracy.note == kOfMagnitudes) {
      const auto positive = golden::run_on_oracle(*graph, magnitudes(data));
      ASSERT_TRUE(positive.ok()) << text_of(call);
      scale = positive->at("result");
    }
    compare(call, found->at("result"), oracle->at("result"), scale, accuracy);
    ++compared_[std::string(call.op->name)];
  }

  const std::map<std::string, int>& compared() const { return compared_; }
  const std::map<std::string, int>& refused() const { return refused_; }

 private:
  void compare(const Call& call, const Array& found, const Array& oracle, const Array& scale,
               const Accuracy& accuracy) {
    ASSERT_EQ(found.sizes(), oracle.sizes()) << text_of(call);
    for (int64_t i = 0; i < found.elements(); ++i) {
      const bool good = is_float(found.dtype())
                            ? within_bound(accuracy, found.dtype(), found.f64_at(i),
                                           oracle.f64_at(i), scale.f64_at(i))
                            : found.i64_at(i) == oracle.i64_at(i);
      if (good) continue;
      ADD_FAILURE() << fmt::format("{} on {}: [{}] is {:.17g}, the oracle has {:.17g}",
                                   text_of(call), target_.name, i, found.f64_at(i),
                                   oracle.f64_at(i));
      return;
    }
  }

  const Target& target_;
  std::map<std::string, int> compared_;
  std::map<std::string, int> refused_;
};

// --- calls
// ----------------------------------------------------------------------------------------

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
      {"linear", "", {Shape{7, 96}, Shape{50, 96}, Shape{50}}},
      {"linear", "", {Shape{2, 3, 65}, Shape{4, 65}}},
      {"linear", "", {Shape{2, 0}, Shape{3, 0}, Shape{3}}},
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
      {"iota", "dtype = f32, shape = [3, 70], axis = 1", {}},
      {"iota", "dtype = u8, shape = [300]", {}},
      {"iota", "dtype = bf16, shape = [300]", {}},
      {"constant", "value = f32[3] [0.1, nan, -0]", {}},
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

size_t required_operands(const OpDef& op) {
  return static_cast<size_t>(std::ranges::count(op.operands, Arity::Required, &Operand::arity));
}

// A large table picked by as many indices would fill the memory.
constexpr int64_t kMostElements = int64_t{1} << 18;

// Every call that the record allows among the classes, and the lines above.
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

// At -infinity these are 0 in a kernel and NaN in the decomposition that the oracle runs, as their
// records say.
void leave_out_negative_infinity(RunData& data) {
  for (auto& [name, array] : data.inputs) {
    for (int64_t i = 0; i < array.elements(); ++i) {
      if (array.f64_at(i) == -std::numeric_limits<double>::infinity()) array.set(i, -60);
    }
  }
}

void run_calls(Comparison& comparison, const OpDef& op) {
  for (const DType dtype : all_dtypes()) {
    for (const Call& call : calls_of(op, dtype)) {
      // No index fits an empty axis.
      if (op.name == "gather" && call.types[0].shape[0] == Dim(0)) continue;
      for (const DataKind kind : {DataKind::Finite, DataKind::Special}) {
        // A NaN behind a mask never leaks from a kernel; from a decomposition it may.
        if (kind == DataKind::Special && op.name == "attention") continue;
        const Result<Graph> graph = graph_of(call);
        ASSERT_TRUE(graph.ok());
        Result<RunData> data =
            golden::seeded_data(*graph, given_data(call), {}, kind, 20 + static_cast<int>(kind));
        ASSERT_TRUE(data.ok()) << text_of(call) << ": " << to_text(data.error());
        if (op.name == "gelu" || op.name == "silu") leave_out_negative_infinity(*data);
        comparison.run(call, *data);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

class Conformance : public ::testing::TestWithParam<const OpDef*> {};

TEST_P(Conformance, EveryTargetIsWithinTheBoundOfTheOracle) {
  const OpDef& op = *GetParam();
  int targets = 0;
  for (const Target* target : all_targets()) {
    if (target->table == nullptr) continue;  // takes ops as their records define them
    ++targets;
    Comparison comparison(*target);
    run_calls(comparison, op);
    const auto compared = comparison.compared().find(std::string(op.name));
    ASSERT_NE(compared, comparison.compared().end())
        << op.name << " was never compared on " << target->name;
    const std::string column(target->name);
    RecordProperty(column + "_compared", compared->second);
    EXPECT_GT(compared->second, comparison.refused().contains(std::string(op.name))
                                    ? comparison.refused().at(std::string(op.name)) / 4
                                    : 0)
        << op.name << " is mostly refused on " << target->name;
  }
  EXPECT_GT(targets, 0);
}

RunData example_data(const Example& example, bool narrow, Call& call) {
  RunData data;
  for (size_t i = 0; i < example.operands.size(); ++i) {
    call.absent.push_back(example.operands[i] == "_");
    call.types.emplace_back();
    if (call.absent[i]) continue;
    Array array = parse_array(example.operands[i]).value_or_throw();
    if (narrow && array.dtype() == DType::F64) {
      Array rounded = Array::zeros(DType::F32, array.sizes());
      for (int64_t k = 0; k < array.elements(); ++k) {
        rounded.set(k, array.f64_at(k));
        // Examples are written so that both dtypes start from the same numbers.
        EXPECT_TRUE(rounded.f64_at(k) == array.f64_at(k) || std::isnan(array.f64_at(k)));
      }
      array = rounded;
    }
    call.types[i] = array.type();
    data.inputs[fmt::format("x{}", i)] = array;
  }
  return data;
}

TEST_P(Conformance, ExamplesHoldOnTheOracle) {
  const OpDef& op = *GetParam();
  for (const Example& example : op.examples) {
    Call call{&op, std::string(example.attrs), {}, {}};
    const RunData data = example_data(example, false, call);
    const Array wanted = parse_array(example.result).value_or_throw();
    const auto found = golden::run_on_oracle(graph_of(call).value_or_throw(), data);
    ASSERT_TRUE(found.ok()) << text_of(call) << to_text(found.error());
    const Array& result = found->at("result");
    ASSERT_EQ(result.sizes(), wanted.sizes()) << text_of(call);
    for (int64_t i = 0; i < wanted.elements(); ++i) {
      if (!is_float(wanted.dtype())) {
        EXPECT_EQ(result.i64_at(i), wanted.i64_at(i)) << text_of(call) << " [" << i << "]";
        continue;
      }
      const double a = result.f64_at(i);
      const double b = wanted.f64_at(i);
      // Both are rounded, and so are the steps of a decomposition.
      const bool same = std::isnan(b)
                            ? std::isnan(a)
                            : a == b || std::abs(a - b) <= 4e-15 * std::max(1.0, std::abs(b));
      EXPECT_TRUE(same) << fmt::format("{} [{}] is {:.17g}, {} says {:.17g}", text_of(call), i, a,
                                       example.source, b);
      if (b == 0 && a == 0) {
        EXPECT_EQ(std::signbit(a), std::signbit(b)) << text_of(call) << " [" << i << "]";
      }
    }
  }
}

TEST_P(Conformance, ExamplesHoldOnCpuAtF32) {
  const OpDef& op = *GetParam();
  const Target* cpu = find_target(all_targets(), "cpu").value_or_throw();
  for (const Example& example : op.examples) {
    Call call{&op, std::string(example.attrs), {}, {}};
    const RunData data = example_data(example, true, call);
    const Array wanted = parse_array(example.result).value_or_throw();
    const Graph graph = graph_of(call).value_or_throw();
    const auto found = golden::run_on_target("cpu", graph, data);
    ASSERT_TRUE(found.ok()) << text_of(call) << to_text(found.error());
    const Array& result = found->at("result");
    ASSERT_EQ(result.sizes(), wanted.sizes()) << text_of(call);
    const Accuracy accuracy = bound_of(*cpu, graph);
    double magnitude = 0;  // of the largest term, as far as the example shows it
    for (const auto& [name, array] : data.inputs) {
      for (int64_t i = 0; i < array.elements(); ++i) {
        if (std::isfinite(array.f64_at(i))) magnitude += std::abs(array.f64_at(i));
      }
    }
    for (int64_t i = 0; i < wanted.elements(); ++i) {
      const bool good = is_float(result.dtype())
                            ? within_bound(accuracy, result.dtype(), result.f64_at(i),
                                           wanted.f64_at(i), magnitude)
                            : result.i64_at(i) == wanted.i64_at(i);
      EXPECT_TRUE(good) << fmt::format("{} [{}] is {:.9g}, {} says {:.17g}", text_of(call), i,
                                       result.f64_at(i), example.source, wanted.f64_at(i));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, Conformance, ::testing::ValuesIn(all_ops().begin(), all_ops().end()),
                         [](const auto& tested) { return std::string(tested.param->name); });

}  // namespace
}  // namespace capra
