// What text cannot say about the core passes: bytes of parameters, folding with kernels, notes.
#include <gtest/gtest.h>

#include "capra/ir/structural_ops.h"
#include "capra/ops/add.h"
#include "capra/ops/constant.h"
#include "capra/ops/exp.h"
#include "capra/ops/gelu.h"
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/passes.h"
#include "tests/passes/graph_run.h"

namespace capra {
namespace {

using testing::count_ops;
using testing::parse;

Graph run(const Pass& pass, const Graph& graph, PassContext context = {}) {
  return pass.run(graph, context).value_or_throw();
}

Array row(float a, float b) {
  const float values[] = {a, b};
  return Array::of<float>(DType::F32, {2}, values);
}

TEST(CommonSubexpressions, ParametersAreEqualByBytesOnly) {
  const Graph graph = parse(
      "graph @main { %x = input : f32[2]\n %a = parameter {path = \"a\"} : f32[2]\n"
      "%b = parameter {path = \"b\"} : f32[2]\n %c = add %x %a\n %d = add %x %b\n"
      "output %c\n output %d }");
  Parameters equal{{"a", row(1, 2)}, {"b", row(1, 2)}};
  Parameters other{{"a", row(1, 0.0F)}, {"b", row(1, -0.0F)}};
  Parameters partly{{"a", row(1, 2)}};
  EXPECT_EQ(count_ops(run(kCommonSubexpressions, graph, {.parameters = &equal}), kAdd), 1);
  EXPECT_EQ(count_ops(run(kCommonSubexpressions, graph, {.parameters = &other}), kAdd), 2);
  EXPECT_EQ(count_ops(run(kCommonSubexpressions, graph, {.parameters = &partly}), kAdd), 2);
  EXPECT_EQ(count_ops(run(kCommonSubexpressions, graph), kAdd), 2);
}

TEST(CommonSubexpressions, ParametersOfOtherTypesStay) {
  const Graph graph = parse(
      "graph @main { %a = parameter {path = \"a\"} : f32[1, 2]\n"
      "%b = parameter {path = \"b\"} : f32[2]\n %c = exp %a\n %d = exp %b\n"
      "output %c\n output %d }");
  const Parameters data{{"a", row(1, 2).reshaped({1, 2})}, {"b", row(1, 2)}};
  EXPECT_TRUE(run(kCommonSubexpressions, graph, {.parameters = &data}) == graph);
}

TEST(CommonSubexpressions, KeepsTheNotesOfBoth) {
  const Graph graph = parse(
      "graph @main { %x = input : f32[2]\n %a = gelu %x !{reason = \"one\"}\n"
      "%b = gelu %x !{reason = \"two\"}\n %y = add %a %b\n output %y }");
  const Graph result = run(kCommonSubexpressions, graph);
  ASSERT_EQ(count_ops(result, kGelu), 1);
  EXPECT_EQ(result.node(1).notes, (std::vector<Note>{{"reason", "one"}, {"reason", "two"}}));
}

TEST(CommonSubexpressions, GroupsAreEqualWithTheirBodies) {
  const std::string_view text =
      "graph @main { %x = input : f32[2]\n"
      "%a = group %x {label = \"g\"} : f32[2] body @g { %p = input : f32[2]\n %q = exp %p\n"
      "output %q {name = \"r\"} }\n"
      "%b = group %x {label = \"g\"} : f32[2] body @g { %p = input : f32[2]\n %q = OP %p\n"
      "output %q {name = \"r\"} }\n"
      "%y = add %a %b\n output %y }";
  for (const auto& [op, groups] : {std::pair{"exp", 1}, std::pair{"tanh", 2}}) {
    std::string spelled(text);
    spelled.replace(spelled.find("OP"), 2, op);
    EXPECT_EQ(count_ops(run(kCommonSubexpressions, parse(spelled)), kGroup), groups) << op;
  }
}

TEST(FoldConstants, GivesTheBitsOfTheKernel) {
  const Graph graph = parse(
      "graph @main { %a = constant {value = f32[3] [0.1, nan, -0]}\n %b = exp %a\n"
      "%c = mul %b 3.0\n output %c }");
  const std::vector<Array> wanted = testing::run_eager(graph, {});
  const Graph folded = run(kFoldConstants, graph, testing::cpu_context(nullptr));
  ASSERT_EQ(folded.size(), 2);
  EXPECT_EQ(folded.node(0).op, &kConstant);
  EXPECT_EQ(folded.node(0).name, "c");
  EXPECT_EQ(testing::difference(wanted, {folded.node(0).attrs_as<ConstantAttrs>().value}), "");
}

TEST(FoldConstants, NeedsAnExecutor) {
  const Graph graph =
      parse("graph @main { %a = constant {value = f32 2}\n %b = exp %a\n output %b }");
  EXPECT_TRUE(run(kFoldConstants, graph) == graph);
}

TEST(FoldConstants, LeavesWhatWouldGrow) {
  const PassContext context = testing::cpu_context(nullptr);
  const Graph large = parse(
      "graph @main { %a = constant {value = f32 2}\n %b = broadcast %a {shape = [64, 17]}\n"
      "output %b }");
  EXPECT_TRUE(run(kFoldConstants, large, context) == large);
  const Graph symbolic = parse(
      "graph @main { %x = input : f32[tokens]\n %a = constant {value = f32 2}\n"
      "%b = broadcast %a {shape = [tokens]}\n %y = add %x %b\n output %y }");
  EXPECT_TRUE(run(kFoldConstants, symbolic, context) == symbolic);
  const Graph small = parse(
      "graph @main { %a = constant {value = f32 2}\n %b = broadcast %a {shape = [64, 16]}\n"
      "output %b }");
  EXPECT_EQ(run(kFoldConstants, small, context).size(), 2);
}

TEST(FoldConstants, HandsOnWhatTheKernelRefuses) {
  const Graph graph = parse(
      "graph @main { %t = constant {value = f32[2] [1, 2]}\n"
      "%i = constant {value = i32[1] [5]}\n %y = gather %t %i\n output %y }");
  PassContext context = testing::cpu_context(nullptr);
  const Result<Graph> result = kFoldConstants.run(graph, context);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "index-out-of-range");
}

TEST(GraphRewriter, DropsOnlyWhatItLeftWithoutAUser) {
  const Graph graph = parse(
      "graph @main { %x = input : f32[2]\n %unused = exp %x\n %a = neg %x\n %b = tanh %a\n"
      "output %b }");
  GraphRewriter rewriter(graph);
  for (NodeId id = 0; id < 4; ++id) rewriter.copy(id);
  GraphRewriter replaced(graph);
  for (NodeId id = 0; id < 3; ++id) replaced.copy(id);
  replaced.replace(3, replaced.mapped(0));
  for (NodeId id = 4; id < graph.size(); ++id) replaced.copy(id);
  const Graph result = std::move(replaced).finish();
  EXPECT_EQ(count_ops(result, kExp), 1) << "it had no user before";
  EXPECT_EQ(result.size(), 3);
}

TEST(GraphRewriter, ReplacementsTakeOverNamePathAndNotes) {
  const Graph graph = parse(
      "graph @main { %x = input : f32[2]\n %y = gelu %x @ \"layer.3\" !{reason = \"why\"}\n"
      "output %y }");
  GraphRewriter rewriter(graph);
  rewriter.copy(0);
  rewriter.splice(1, [&] { return exp(rewriter.tensor(0)); });
  rewriter.copy(2);
  const Graph result = std::move(rewriter).finish();
  const Node& made = result.node(1);
  EXPECT_EQ(made.op, &kExp);
  EXPECT_EQ(made.name, "y");
  EXPECT_EQ(made.path, "layer.3");
  EXPECT_EQ(made.notes, (std::vector<Note>{{"reason", "why"}}));
}

}  // namespace
}  // namespace capra
