// Legalization by tables made for the purpose, and the recorded approximation of GELU.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "capra/ir/structural_ops.h"
#include "capra/ops/add.h"
#include "capra/ops/constant.h"
#include "capra/ops/erf.h"
#include "capra/ops/gelu.h"
#include "capra/ops/mean.h"
#include "capra/ops/mul.h"
#include "capra/passes/gelu_tanh.h"
#include "capra/passes/passes.h"
#include "capra/passes/rewrite_forms.h"
#include "tests/passes/graph_run.h"

namespace capra {
namespace {

using testing::count_ops;
using testing::parse;

bool f32_only(TypeRefs operands, const Attrs&, const TensorType&) {
  return operands[0]->dtype == DType::F32;
}

constexpr OpRow kAddRow{.op = &kAdd};
constexpr OpRow kConstantRow{.op = &kConstant};
constexpr OpRow kErfRow{.op = &kErf, .takes = f32_only};
constexpr OpRow kMulRow{.op = &kMul};
constexpr const OpRow* kRows[] = {&kAddRow, &kConstantRow, &kErfRow, &kMulRow};
constexpr OpTable kTable(kRows);

PassContext small_context() { return {.table = &kTable, .target = "small"}; }

TEST(Legalize, DecomposesWhatHasNoRow) {
  const Graph graph = parse(
      "graph @main { %x = input : f32[2]\n"
      "%y = gelu %x {approximate = false} @ \"layer.0\" !{reason = \"why\"}\n output %y }");
  PassContext context = small_context();
  const Graph result = kLegalize.run(graph, context).value_or_throw();
  EXPECT_EQ(count_ops(result, kGelu), 0);
  EXPECT_EQ(count_ops(result, kErf), 1);
  const Node& last = result.node(result.size() - 2);
  EXPECT_EQ(last.name, "y");
  EXPECT_EQ(last.path, "layer.0");
  EXPECT_EQ(last.notes, (std::vector<Note>{{"reason", "why"}}));
  ASSERT_EQ(context.report.rewrites.size(), 1U);
  EXPECT_EQ(context.report.rewrites[0].node, "layer.0");
  EXPECT_EQ(forms_of(context.report.rewrites[0]).before, "gelu(approximate=false)");
  EXPECT_EQ(forms_of(context.report.rewrites[0]).after, "mul, erf, add, mul, mul");
}

TEST(Legalize, RefusesAPrimitiveWithItsPathAndTheWayThere) {
  const Graph graph =
      parse("graph @main { %x = input : f32[2]\n %y = variance %x @ \"norm.1\"\n output %y }");
  PassContext context = small_context();
  const Result<Graph> result = kLegalize.run(graph, context);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "op-not-legal");
  EXPECT_EQ(result.error().at, "norm.1");
  EXPECT_EQ(result.error().message,
            "target small has no row for sum(f32[2]), a step of mean, a step of variance; the op "
            "is a primitive and cannot be decomposed");
  EXPECT_EQ(result.error().help,
            "write it in other ops, or use another target; 'capra ops' lists what each one runs");
}

TEST(Legalize, SaysWhenOnlyTheTypesDoNotFit) {
  const Graph graph = parse("graph @main { %x = input : f64[2]\n %y = erf %x\n output %y }");
  PassContext context = small_context();
  const Result<Graph> result = kLegalize.run(graph, context);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().at, "%y");
  EXPECT_NE(result.error().message.find("other types"), std::string::npos);
  EXPECT_TRUE(result.error().help.starts_with("convert to a dtype the target takes"));
}

TEST(Legalize, ARowSaysWhatItNeeds) {
  static constexpr OpRow kFixed{.op = &kErf, .takes = f32_only, .help = "give it f32"};
  static constexpr const OpRow* kOnly[] = {&kFixed};
  constexpr OpTable kFixedTable(kOnly);
  const Graph graph = parse("graph @main { %x = input : f64[2]\n %y = erf %x\n output %y }");
  PassContext context{.table = &kFixedTable, .target = "small"};
  const Result<Graph> result = kLegalize.run(graph, context);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().help, "give it f32");
}

TEST(Legalize, TakesAGroupWithAnIllegalPartApart) {
  const Graph graph = parse(
      "graph @main { %x = input : f32[2]\n"
      "%y = group %x %x {label = \"g\"} : f32[2] body @g { %p = input : f32[2]\n"
      "%q = input : f32[2]\n %s = add %p %q\n"
      "%t = gelu %s {approximate = false} @ \"deep\" !{reason = \"why\"}\n"
      "output %t {name = \"r\"} }\n output %y }");
  PassContext context = small_context();
  const Graph result = kLegalize.run(graph, context).value_or_throw();
  EXPECT_EQ(count_ops(result, kGroup), 0);
  EXPECT_EQ(count_ops(result, kErf), 1);
  const Node& last = result.node(result.size() - 2);
  EXPECT_EQ(last.name, "y");
  EXPECT_EQ(last.path, "deep");
  EXPECT_EQ(last.notes, (std::vector<Note>{{"reason", "why"}}));
}

TEST(Legalize, KeepsAGroupOfLegalParts) {
  const Graph graph = parse(
      "graph @main { %x = input : f32[2]\n"
      "%y = group %x {label = \"g\"} : f32[2] body @g { %p = input : f32[2]\n %s = add %p %p\n"
      "output %s {name = \"r\"} }\n output %y }");
  PassContext context = small_context();
  EXPECT_TRUE(kLegalize.run(graph, context).value_or_throw() == graph);
}

TEST(Legalize, NeedsATable) {
  PassContext context;
  const Result<Graph> result =
      kLegalize.run(parse("graph @main { %x = input : f32[2]\n output %x }"), context);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "pass-needs-table");
}

// mpmath 1.3, 50 digits: the largest difference of the two forms over all x, and where it is.
constexpr double kLargestDifference = 4.7323552068728487711e-4;
constexpr double kLargestAt = 2.6989413863772703005;

TEST(GeluTanh, TheBoundIsTheLargestDifferenceRoundedUp) {
  EXPECT_EQ(gelu_tanh_max_abs_error(), 4.8e-4);
  EXPECT_GT(gelu_tanh_max_abs_error(), kLargestDifference);
  EXPECT_LT(gelu_tanh_max_abs_error() - 1e-5, kLargestDifference);
  const double x = kLargestAt;
  const double exact = 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  EXPECT_NEAR(std::abs(exact - 0.5 * x * (1 + std::tanh(inner))), kLargestDifference, 1e-15);
}

TEST(GeluTanh, NumbersAreSpelledWithAnExponent) {
  EXPECT_EQ(exponent_text(4.8e-4), "4.8E-4");
  EXPECT_EQ(exponent_text(1e-3), "1.0E-3");
  EXPECT_EQ(exponent_text(0.0125), "1.25E-2");
  EXPECT_EQ(exponent_text(123456.0), "1.23456E5");
  EXPECT_EQ(exponent_text(1e-12), "1.0E-12");
  EXPECT_EQ(exponent_text(-2.5), "-2.5");
  EXPECT_EQ(exponent_text(0), "0.0");
}

TEST(GeluTanh, RecordsWhatItDidOnTheNodeAndInALine) {
  const Graph graph = parse(
      "graph @main { %x = input : f32[2]\n %a = gelu %x {approximate = false} @ \"layer.0\"\n"
      "%e = erf %a\n %y = gelu %e {approximate = false}\n output %y }");
  const Pass pass = gelu_tanh_legalization("my-dsp has no erf kernel");
  EXPECT_EQ(pass.effect, NumericEffect::Approximate);
  PassContext context;
  const Graph result = pass.run(graph, context).value_or_throw();
  EXPECT_TRUE(result.node(1).attrs_as<GeluAttrs>().approximate);
  EXPECT_EQ(result.node(1).notes, (std::vector<Note>{{"legalizedFrom", "gelu(approximate=false)"},
                                                     {"maxAbsError", 4.8e-4},
                                                     {"reason", "my-dsp has no erf kernel"}}));
  EXPECT_EQ(count_ops(result, kErf), 1);
  EXPECT_EQ(context.report.lines,
            (std::vector<std::string>{
                "GELU_APPROX_LEGALIZED node=layer.0: gelu(approximate=false) -> "
                "gelu(approximate=true) [my-dsp has no erf kernel] maxAbsError=4.8E-4",
                "GELU_APPROX_LEGALIZED node=%y: gelu(approximate=false) -> "
                "gelu(approximate=true) [my-dsp has no erf kernel] maxAbsError=4.8E-4"}));
  const std::vector<Approximation> found = approximations(result);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].node, "layer.0");
  EXPECT_EQ(found[0].legalized_from, "gelu(approximate=false)");
  EXPECT_EQ(found[0].reason, "my-dsp has no erf kernel");
  EXPECT_EQ(found[0].max_abs_error, 4.8e-4);
  PassContext again;
  EXPECT_TRUE(pass.run(result, again).value_or_throw() == result);
  EXPECT_TRUE(again.report.lines.empty());
  ASSERT_EQ(context.report.rewrites.size(), 2U);
  EXPECT_EQ(forms_of(context.report.rewrites[0]).before, "gelu(approximate=false)");
  EXPECT_EQ(forms_of(context.report.rewrites[0]).after, "gelu(approximate=true)");
}

TEST(GeluTanh, ReachesIntoGroups) {
  const Graph graph = parse(
      "graph @main { %x = input : f32[2]\n"
      "%y = group %x {label = \"g\"} : f32[2] body @g { %p = input : f32[2]\n"
      "%s = gelu %p {approximate = false} @ \"layer.7\"\n"
      "output %s {name = \"r\"} }\n output %y }");
  PassContext context;
  const Graph result = kGeluTanh.run(graph, context).value_or_throw();
  ASSERT_EQ(approximations(result).size(), 1U);
  EXPECT_EQ(approximations(result)[0].node, "layer.7");
  EXPECT_EQ(result.node(1).name, "y");
}

}  // namespace
}  // namespace capra
