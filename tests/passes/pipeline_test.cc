// Lists of passes: names, the fixed point, the verifier between passes, what is reported.
#include "capra/passes/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "capra/ir/structural_ops.h"
#include "capra/ops/gelu.h"
#include "capra/ops/neg.h"
#include "capra/passes/fusion_labels.h"
#include "capra/passes/passes.h"
#include "capra/passes/rewrite_forms.h"
#include "tests/models/small_encoder.h"
#include "tests/passes/graph_run.h"

namespace capra {
namespace {

using testing::parse;

TEST(Pipeline, PassesAreSortedAndFoundByName) {
  const PassList passes = all_passes();
  for (size_t i = 0; i < passes.size(); ++i) {
    EXPECT_EQ(find_pass(passes[i]->name), passes[i]);
    EXPECT_FALSE(passes[i]->summary.empty());
    EXPECT_TRUE(passes[i]->summary.ends_with('.')) << passes[i]->summary;
    if (i == 0) continue;
    EXPECT_LT(passes[i - 1]->name, passes[i]->name);
  }
  EXPECT_EQ(find_pass("no-such-pass"), nullptr);
}

TEST(Pipeline, TheCpuListHoldsExactPassesAndLegalization) {
  for (const Pass* pass : cpu_passes()) {
    EXPECT_TRUE(pass->effect == NumericEffect::Exact || pass == &kLegalize) << pass->name;
  }
  for (const Pass* pass : core_passes()) EXPECT_EQ(pass->effect, NumericEffect::Exact);
}

TEST(Pipeline, RunsToTheFixedPoint) {
  // Each sweep of canonicalize sees one more pair; dead code follows.
  const Graph graph = parse(
      "graph @main { %x = input : f32[2]\n %a = neg %x\n %b = neg %a\n %c = neg %b\n"
      "%d = neg %c\n %e = mul %d 1.0\n %y = relu %e\n %z = relu %y\n output %z }");
  PassContext context;
  const Graph result = run_passes(graph, core_passes(), context).value_or_throw();
  EXPECT_EQ(result.size(), 3);
  EXPECT_EQ(testing::count_ops(result, kNeg), 0);
}

TEST(Pipeline, SaysWhatChangedAndWhere) {
  const Graph graph = parse(
      "graph @main { %x = input : f32[2]\n %a = neg %x\n %b = neg %a @ \"encoder.layer.1\"\n"
      "%y = exp %b\n output %y }");
  PassContext context;
  std::vector<std::string> after;
  const PipelineOptions options{
      .after_change = [&](const Pass& pass, const Graph&) { after.emplace_back(pass.name); }};
  ASSERT_TRUE(run_passes(graph, core_passes(), context, options).ok());
  ASSERT_EQ(context.report.rewrites.size(), 1U);
  const Rewrite& rewrite = context.report.rewrites.front();
  EXPECT_EQ(rewrite.pass, "canonicalize");
  EXPECT_EQ(rewrite.rule, "double-negation");
  EXPECT_EQ(rewrite.node, "encoder.layer.1");
  EXPECT_EQ(forms_of(rewrite).before, "neg");
  EXPECT_EQ(forms_of(rewrite).after, "input");
  EXPECT_EQ(after, std::vector<std::string>{"canonicalize"});
}

// A report that gave such a rewrite a bound of 0 would call it exact.
TEST(Pipeline, RefusesAnApproximationWithoutABound) {
  const Graph graph =
      parse("graph @main { %x = input : f32[2]\n %y = gelu %x {approximate = false}\n output %y }");
  const auto refusal = [&](std::vector<Rewrite> rewrites) {
    const Pass pass{"rough", "For a test.", NumericEffect::Approximate,
                    [&](const Graph& now, PassContext& context) -> Result<Graph> {
                      Graph changed = now;
                      changed.node(1).attrs = pack(GeluAttrs{.approximate = true});
                      if (!(changed == now)) context.report.rewrites = rewrites;
                      return changed;
                    }};
    const Pass* list[] = {&pass};
    PassContext context;
    const Result<Graph> result = run_passes(graph, list, context);
    if (result.ok()) return std::string();
    EXPECT_TRUE(result.error().internal);
    return result.error().code + " at " + result.error().at;
  };
  const Rewrite bare{.pass = "rough", .rule = "r", .node = "%y"};
  Rewrite absolute = bare;
  absolute.max_abs_error = 0.5;
  Rewrite relative = bare;
  relative.max_rel_error = 0.5;
  Rewrite exact = bare;
  exact.effect = NumericEffect::Exact;
  EXPECT_EQ(refusal({}), "approximation-unbounded at main");
  EXPECT_EQ(refusal({bare}), "approximation-unbounded at %y");
  EXPECT_EQ(refusal({absolute, bare}), "approximation-unbounded at %y");
  EXPECT_EQ(refusal({absolute}), "");
  EXPECT_EQ(refusal({relative, exact}), "");
}

Result<Graph> flip_gelu(const Graph& graph, PassContext&) {
  Graph flipped = graph;
  for (NodeId id = 0; id < flipped.size(); ++id) {
    Node& node = flipped.node(id);
    if (node.op == &kGelu) {
      node.attrs = pack(GeluAttrs{.approximate = !node.attrs_as<GeluAttrs>().approximate});
    }
  }
  return flipped;
}

TEST(Pipeline, AListThatNeverSettlesIsABug) {
  const Pass flip{"flip", "Never settles.", NumericEffect::Exact, flip_gelu};
  const Pass* list[] = {&flip};
  const Graph graph = parse("graph @main { %x = input : f32[2]\n %y = gelu %x\n output %y }");
  PassContext context;
  const Result<Graph> result = run_passes(graph, list, context, {.max_rounds = 5});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "passes-unsettled");
  EXPECT_TRUE(result.error().internal);
  EXPECT_NE(result.error().message.find("flip"), std::string::npos);
}

Result<Graph> break_type(const Graph& graph, PassContext&) {
  Graph broken = graph;
  broken.node(broken.size() - 2).type.dtype = DType::I32;
  return broken;
}

TEST(Pipeline, TheVerifierNamesThePassThatBrokeTheGraph) {
  const Pass breaks{"breaks", "Breaks a type.", NumericEffect::Exact, break_type};
  const Pass* list[] = {&breaks};
  const Graph graph = parse("graph @main { %x = input : f32[2]\n %y = gelu %x\n output %y }");
  PassContext context;
  const Result<Graph> result = run_passes(graph, list, context, {.verify_each = true});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "graph-invalid");
  EXPECT_TRUE(result.error().message.starts_with("after breaks: ")) << result.error().message;
}

TEST(Pipeline, AnEncoderBecomesGroups) {
  const std::unique_ptr<Encoder> encoder = make_bert(testing::small_bert_config());
  const Graph graph = encoder->trace({});
  const Parameters parameters = testing::seeded_parameters(graph, 1);
  PassContext context = testing::cpu_context(&parameters);
  const PipelineOptions options{.verify_each = true};
  const Graph result = run_passes(graph, cpu_passes(), context, options).value_or_throw();
  EXPECT_EQ(testing::count_groups(result, kFusedEmbeddingLayerNorm), 1);
  EXPECT_EQ(testing::count_groups(result, kFusedQkv), 2);
  EXPECT_EQ(testing::count_groups(result, kFusedAttentionQkv), 2);
  EXPECT_EQ(testing::count_groups(result, kFusedLinearActivation), 2);
  EXPECT_EQ(testing::count_groups(result, kFusedLinearAddLayerNorm), 4);
}

}  // namespace
}  // namespace capra
