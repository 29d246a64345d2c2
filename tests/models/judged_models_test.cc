// The decision head and the encoder with token types on the roads that run here: the oracle, cpu op
// by op, and cpu as an optimized graph. IREE's road is tests/targets/stablehlo/models_test.py.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "capra/interp/interp.h"
#include "capra/ir/structural_ops.h"
#include "capra/passes/approximate.h"
#include "capra/runtime/executable.h"
#include "capra/runtime/target.h"
#include "capra/targets/cpu/target.h"
#include "tests/models/judged_models.h"

namespace capra {
namespace {

using testing::decision_head;
using testing::JudgedModel;
using testing::max_difference;
using testing::two_segments;

// Of the decision's outputs: what cpu is held to, what every road is, and what tanh moves at least.
constexpr double kCpuGate = 1e-5;
constexpr double kGate = 5e-5;
constexpr double kTanhMoves = 2.5e-4;

std::vector<Array> inputs_of(const JudgedModel& model) {
  std::vector<Array> inputs;
  for (const NodeId id : model.graph.inputs()) {
    inputs.push_back(model.inputs.at(model.graph.node(id).attrs_as<InputAttrs>().name));
  }
  return inputs;
}

Array on_oracle(const JudgedModel& model) {
  return interpret(model.graph, inputs_of(model), model.parameters).value_or_throw()[0];
}

Array on_cpu_eagerly(const JudgedModel& model) {
  const Context context = eager_context(cpu::kTarget, &model.parameters);
  std::vector<Tensor> operands;
  for (const Array& input : inputs_of(model)) operands.push_back(Tensor::of_data(context, input));
  return replay(model.graph, context, operands)[0].array();
}

Array on_cpu(const JudgedModel& model) {
  const auto executable = compile(cpu::kTarget, model.graph, model.parameters).value_or_throw();
  Workspace workspace = executable->make_workspace();
  const std::vector<Array> inputs = inputs_of(model);
  const std::vector<InputRef> refs(inputs.begin(), inputs.end());
  return executable->run(workspace, refs).value_or_throw()[0];
}

JudgedModel with_tanh(JudgedModel model) {
  const std::string names[] = {"gelu=tanh"};
  model.graph = approximate(std::move(model.graph), names, "cpu").value_or_throw();
  return model;
}

TEST(DecisionHead, ExactPassesAndTanhFailsOnEveryRoad) {
  const JudgedModel exact = decision_head();
  const Array reference = on_oracle(exact);
  const Array eager = on_cpu_eagerly(exact);
  const double error = max_difference(eager, reference);
  EXPECT_LE(error, kCpuGate);
  EXPECT_EQ(max_difference(on_cpu(exact), eager), 0);

  const JudgedModel tanh = with_tanh(decision_head());
  const double moved = max_difference(on_oracle(tanh), reference);
  EXPECT_GE(moved, kTanhMoves);
  EXPECT_GT(max_difference(on_cpu_eagerly(tanh), reference), kGate);
  EXPECT_GT(max_difference(on_cpu(tanh), reference), kGate);
  std::printf("cpu is within %.3g of the oracle; the tanh form moves the outputs by %.3g\n", error,
              moved);
}

TEST(TwoSegments, TokenTypesMatter) {
  const JudgedModel model = two_segments();
  const Array reference = on_oracle(model);
  const Array eager = on_cpu_eagerly(model);
  EXPECT_LE(max_difference(eager, reference), kCpuGate);
  EXPECT_EQ(max_difference(on_cpu(model), eager), 0);
  JudgedModel one_segment = two_segments();
  Array& types = one_segment.inputs.at("token_types");
  types = Array::zeros(types.dtype(), types.sizes());
  EXPECT_GT(max_difference(on_oracle(one_segment), reference), 0.1);
}

}  // namespace
}  // namespace capra
