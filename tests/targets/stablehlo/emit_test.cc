// Modules: composite bodies are the inline form, thresholds, and the same bytes twice.
#include "capra/targets/stablehlo/emit.h"

#include <gtest/gtest.h>

#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/gelu.h"
#include "capra/passes/gelu_tanh.h"
#include "tests/ops/conformance_calls.h"

namespace capra::stablehlo {
namespace {

// The function's text without its name and the names of its arguments.
std::string body_text(const Function& function) {
  Function plain = function;
  plain.name = "f";
  plain.is_private = false;
  for (size_t i = 0; i < plain.arguments.size(); ++i) {
    plain.arguments[i].name = "x" + std::to_string(i);
  }
  return print_module({{}, {plain}});
}

class EmitOp : public ::testing::TestWithParam<const OpDef*> {};

TEST_P(EmitOp, ACompositesBodyIsTheInlineForm) {
  const OpDef& op = *GetParam();
  if (op.name == "constant") return;
  int compared = 0;
  for (const DType dtype : {DType::F32, DType::I32, DType::Bool, DType::BF16}) {
    for (const Call& call : calls_of(op, dtype)) {
      const Graph graph = graph_of(call).value_or_throw();
      const Result<Module> inline_form = emit(graph, {});
      ASSERT_TRUE(inline_form.ok()) << text_of(call) << to_text(inline_form.error());
      ASSERT_EQ(inline_form->functions.size(), 1U);
      const Result<Module> kept = emit(graph, {}, {.keep_fused = {std::string(op.name)}});
      ASSERT_TRUE(kept.ok()) << text_of(call) << to_text(kept.error());
      if (kept->functions.size() == 1) {  // a call that changes nothing is gone before
        EXPECT_TRUE(kept->functions[0].operations.empty()) << text_of(call);
        continue;
      }
      ASSERT_EQ(kept->functions.size(), 2U) << text_of(call);
      EXPECT_TRUE(kept->functions[1].is_private);
      EXPECT_EQ(body_text(kept->functions[1]), body_text(inline_form->functions[0]))
          << text_of(call);
      EXPECT_EQ(kept->functions[0].operations.size(), 1U);
      EXPECT_EQ(kept->functions[0].operations[0].name, "stablehlo.composite");
      EXPECT_EQ(print_module(*kept),
                print_module(emit(graph, {}, {.keep_fused = {std::string(op.name)}}).value()));
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(Ops, EmitOp, ::testing::ValuesIn(all_ops().begin(), all_ops().end()),
                         [](const auto& tested) { return std::string(tested.param->name); });

TEST(Emit, ParametersFromTheThresholdOnAreExternal) {
  const Graph graph = parse_graph(R"(graph @main {
  %x = input : f32[2]
  %w = parameter {path = "w"} : f32[2]
  %s = parameter {path = "s"} : f32
  %y = mul %x %w
  %z = mul %y %s
  output %z
}
)",
                                  all_ops())
                          .value_or_throw();
  const Parameters parameters{
      {"s", Array::scalar(DType::F32, 0.25)},
      {"w", Array::of<float>(DType::F32, {2}, std::vector<float>{1.5F, -2})}};
  const Module module = emit(graph, parameters, {.external_from = 8}).value_or_throw();
  ASSERT_EQ(module.globals.size(), 1U);
  EXPECT_EQ(module.globals[0].key, "w");
  const std::string text = print_module(module);
  EXPECT_NE(text.find("#flow.parameter.named<\"model\"::\"w\"> : tensor<2xf32>"),
            std::string::npos);
  EXPECT_NE(text.find("dense<0.25> : tensor<2xf32>"), std::string::npos);
  const Module whole = emit(graph, parameters).value_or_throw();
  EXPECT_TRUE(whole.globals.empty());
  EXPECT_NE(print_module(whole).find("dense<[1.5, -2.0]> : tensor<2xf32>"), std::string::npos);

  Parameters turned = parameters;
  turned["w"] = Array::zeros(DType::F32, {1, 2});
  EXPECT_EQ(emit(graph, turned).error().code, "parameter-type");
}

TEST(Emit, ReportsWhatWasDecomposed) {
  const Graph graph = parse_graph(R"(graph @main {
  %x = input : f32[2]
  %y = relu %x
  output %y
}
)",
                                  all_ops())
                          .value_or_throw();
  PassReport report;
  ASSERT_TRUE(emit(graph, {}, {.report = &report}).ok());
  ASSERT_FALSE(report.rewrites.empty());
  EXPECT_EQ(report.rewrites[0].pass, "legalize");
}

Granularity gelu_whole() {
  static const OpDef* const kKept[] = {&kGelu};
  return {kKept};
}

TEST(Emit, ATargetThatDerivesKeepsItsOpsWhole) {
  const Target npu{.name = "npu",
                   .summary = "Keeps gelu.",
                   .base = &kTarget,
                   .optimizer = {.granularity = gelu_whole}};
  const Graph graph = parse_graph(R"(graph @main {
  %x = input : f32[2]
  %y = gelu %x {approximate = false}
  %z = softmax %y {axis = 0}
  output %z
}
)",
                                  all_ops())
                          .value_or_throw();
  const Module kept = emit(graph, {}, {.target = &npu}).value_or_throw();
  ASSERT_EQ(kept.functions.size(), 2U);
  EXPECT_EQ(kept.functions[1].name, "skainet_gelu_approximate_false_2xf32");
  const Module more = emit(graph, {}, {.target = &npu, .keep_fused = {"softmax"}}).value_or_throw();
  EXPECT_EQ(more.functions.size(), 3U);
  EXPECT_EQ(emit(graph, {}).value_or_throw().functions.size(), 1U);
}

Graph graph_of_text(const char* text) { return parse_graph(text, all_ops()).value_or_throw(); }

TEST(Emit, OpensGroupsInGroups) {
  const Graph graph = graph_of_text(R"(graph @main {
  %x = input : f32[4]
  %y = group %x body {
    %a = input : f32[4]
    %b = group %a body {
      %c = input : f32[4]
      %d = relu %c
      output %d
    }
    output %b
  }
  output %y
}
)");
  const Module module = emit(graph, {}).value_or_throw();
  EXPECT_FALSE(module.functions[0].operations.empty());
}

TEST(Emit, GlobalsAndFunctionsHaveNamesOfTheirOwn) {
  const Graph graph = graph_of_text(R"(graph @w {
  %x = input : f32[2]
  %w = parameter {path = "w"} : f32[2]
  %v = parameter {path = ".v"} : f32[2]
  %y = mul %x %w
  %z = mul %y %v
  output %z
}
)");
  const Array two = Array::of<float>(DType::F32, {2}, std::vector<float>{1.5F, -2});
  const Module module =
      emit(graph, {{".v", Array::zeros(DType::F32, {2})}, {"w", two}}, {.external_from = 0})
          .value_or_throw();
  ASSERT_EQ(module.globals.size(), 2U);
  EXPECT_EQ(module.globals[0].name, "w_2");
  EXPECT_EQ(module.globals[0].key, "w");
  EXPECT_NE(print_module(module).find("@\".v\" = #flow.parameter.named<\"model\"::\".v\">"),
            std::string::npos);
}

// Two reshapes that differ only in which dim goes where.
TEST(Emit, ABodyIsSharedOnlyWhereItFits) {
  const Graph graph = graph_of_text(R"(graph @main {
  %x = input : f32[a, 2, b, 2]
  %y = input : f32[b, 2, a, 2]
  %u = reshape %x {shape = [a, b, 4]}
  %v = reshape %y {shape = [a, b, 4]}
  output %u
  output %v
}
)");
  const Module module = emit(graph, {}, {.keep_fused = {"reshape"}}).value_or_throw();
  EXPECT_EQ(module.functions.size(), 3U);
}

const TapePass kSay{.name = "say",
                    .summary = "Says that it ran.",
                    .run = [](Tape tape, PassContext& context) -> Result<Tape> {
                      context.report.lines.emplace_back("SAID");
                      return tape;
                    }};
std::span<const TapePass* const> say_first() {
  static const TapePass* const kPasses[] = {&kSay};
  return kPasses;
}
PassList no_passes() { return {}; }

TEST(Emit, ATargetThatDerivesHasItsPassesRun) {
  const Target variant{.name = "variant",
                       .summary = "Has passes of its own.",
                       .base = &kTarget,
                       .optimizer = {.tape_passes = say_first, .dag_passes = no_passes}};
  const Graph graph = graph_of_text(R"(graph @main {
  %x = input : f32[2]
  %y = relu %x
  output %y
}
)");
  PassReport report;
  ASSERT_TRUE(emit(graph, {}, {.target = &variant, .report = &report}).ok());
  EXPECT_EQ(report.lines, std::vector<std::string>{"SAID"});
}

PassList tanh_then_legal() {
  static const Pass kTanh = gelu_tanh_legalization("it has no erf");
  static const Pass* const kPasses[] = {&kTanh, find_pass("legalize")};
  return kPasses;
}

TEST(Emit, WhatAVariantApproximatesIsSaidAndWritten) {
  const Target dsp{.name = "dsp",
                   .summary = "Has no erf.",
                   .base = &kTarget,
                   .optimizer = {.dag_passes = tanh_then_legal}};
  const Graph graph = graph_of_text(R"(graph @main {
  %x = input : f32[2]
  %y = gelu %x {approximate = false}
  output %y
}
)");
  PassReport report;
  std::vector<Approximation> in_force;
  const EmitOptions options{.target = &dsp, .report = &report, .approximations = &in_force};
  const std::string text = print_module(emit(graph, {}, options).value_or_throw());
  EXPECT_NE(text.find("stablehlo.tanh"), std::string::npos);
  EXPECT_EQ(text.find("chlo."), std::string::npos);
  ASSERT_EQ(in_force.size(), 1U);
  EXPECT_EQ(in_force[0].legalized_from, "gelu(approximate=false)");
  EXPECT_EQ(in_force[0].max_abs_error, 4.8e-4);
  ASSERT_EQ(report.lines.size(), 1U);
  EXPECT_TRUE(report.lines[0].starts_with("GELU_APPROX_LEGALIZED node=")) << report.lines[0];
}

TEST(Emit, RefusesToKeepWhatIsNoOp) {
  const Graph graph = graph_of_text(R"(graph @main {
  %x = input : f32[2]
  output %x
}
)");
  EXPECT_EQ(emit(graph, {}, {.keep_fused = {"input"}}).error().code, "op-unknown");
  EXPECT_EQ(emit(graph, {}, {.keep_fused = {"constant"}}).error().code, "option-invalid");
}

TEST(Emit, RefusesExtentsTheDialectCannotHold) {
  const Graph graph = graph_of_text(R"(graph @main {
  %x = input : u8[a, 1]
  %y = broadcast %x {shape = [a, 3000000000]}
  output %y
}
)");
  EXPECT_EQ(emit(graph, {}).error().code, "shape-too-large");
}

}  // namespace
}  // namespace capra::stablehlo
