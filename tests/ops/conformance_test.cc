// Generated from the records: every op on every dtype it takes, over classes of shapes, on every
// target that can hold it, within the record's bound of the oracle; and the examples of every
// record, whose values come from outside, on the oracle and on cpu.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/shape_rules.h"
#include "capra/runtime/target.h"
#include "capra/targets/all_targets.h"
#include "tests/ops/conformance_calls.h"
#include "tools/golden/execute.h"
#include "tools/golden/run_case.h"

namespace capra {
namespace {

using golden::DataKind;
using golden::magnitudes;
using golden::RunData;

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

/// The bound of the row that runs the call: the record's, or the row's own where it gives a reason.
Accuracy bound_of(const Target& target, const Graph& graph) {
  const Node& node = graph.node(graph.outputs()[0] - 1);
  const OpRow* row =
      target.table->find(*node.op, operand_types(graph, node.operands), node.attrs, node.type);
  return row != nullptr && !row->accuracy_reason.empty() ? row->accuracy : node.op->accuracy;
}

/// Compares calls on a target with the oracle.
class Comparison {
 public:
  explicit Comparison(const Target& target) : target_(target) {}

  void run(const Call& call, const RunData& data) {
    const Result<Graph> graph = graph_of(call);
    ASSERT_TRUE(graph.ok()) << text_of(call) << ": " << to_text(graph.error());
    const auto found = golden::run_on_target(target_.name, *graph, data);
    ASSERT_TRUE(found.ok()) << text_of(call) << ": " << to_text(found.error());
    check(call, found->at("result"), *graph, data, bound_of(target_, *graph));
    ++compared_[std::string(call.op->name)];
  }

  /// Compares what was found with the oracle's result of `graph`.
  void check(const Call& call, const Array& found, const Graph& graph, const RunData& data,
             const Accuracy& accuracy) {
    const auto oracle = golden::run_on_oracle(graph, data);
    ASSERT_TRUE(oracle.ok()) << text_of(call) << ": " << to_text(oracle.error());
    Array scale = oracle->at("result");
    if (accuracy.note == kOfMagnitudes) {
      const auto positive = golden::run_on_oracle(graph, magnitudes(data));
      ASSERT_TRUE(positive.ok()) << text_of(call);
      scale = positive->at("result");
    }
    compare(call, found, oracle->at("result"), scale, accuracy);
  }

  const std::map<std::string, int>& compared() const { return compared_; }

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
};

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
    if (target->write != nullptr) continue;  // writes programs, which tests of its own judge
    ++targets;
    Comparison comparison(*target);
    run_calls(comparison, op);
    const auto compared = comparison.compared().find(std::string(op.name));
    ASSERT_NE(compared, comparison.compared().end())
        << op.name << " was never compared on " << target->name;
    const std::string column(target->name);
    RecordProperty(column + "_compared", compared->second);
  }
  EXPECT_GT(targets, 0);
}

// What a target without a row for the op runs: the decomposition, in f32 and f64 on the kernels of
// the ops it is made of, is within the record's bound too.
TEST_P(Conformance, DecompositionsAreWithinTheBoundOfTheOracle) {
  const OpDef& op = *GetParam();
  if (op.decompose == nullptr) return;
  Comparison comparison(*find_target(all_targets(), "cpu").value_or_throw());
  for (const DType dtype : {DType::F32, DType::F64}) {
    for (const Call& call : calls_of(op, dtype)) {
      const Graph graph = graph_of(call).value_or_throw();
      const RunData data =
          golden::seeded_data(graph, given_data(call), {}, DataKind::Finite, 31).value_or_throw();
      const Graph decomposed = golden::decompose_once(graph).value_or_throw();
      const auto found = golden::run_on_target("cpu", decomposed, data);
      ASSERT_TRUE(found.ok()) << text_of(call) << ": " << to_text(found.error());
      comparison.check(call, found->at("result"), graph, data, op.accuracy);
    }
  }
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
