// Widening for tables made for the purpose: what it writes, what it leaves, and the bits it gives.
#include <gtest/gtest.h>

#include <algorithm>

#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ops/add.h"
#include "capra/ops/compare.h"
#include "capra/ops/convert.h"
#include "capra/ops/layer_norm.h"
#include "capra/ops/linear.h"
#include "capra/ops/matmul.h"
#include "capra/ops/reshape.h"
#include "capra/ops/softmax.h"
#include "capra/passes/passes.h"
#include "capra/passes/pipeline.h"
#include "tests/passes/graph_run.h"

namespace capra {
namespace {

using testing::parse;

bool no_narrow_float(TypeRefs operands, const Attrs&, const TensorType&) {
  return std::ranges::none_of(operands, [](const TensorType* type) {
    return type != nullptr && (type->dtype == DType::F16 || type->dtype == DType::BF16);
  });
}

constexpr OpRow kAddRow{.op = &kAdd, .takes = no_narrow_float};
constexpr OpRow kAnyAddRow{.op = &kAdd};
constexpr OpRow kCompareRow{.op = &kCompare, .takes = no_narrow_float};
constexpr OpRow kConvertRow{.op = &kConvert};
constexpr OpRow kLayerNormRow{.op = &kLayerNorm, .takes = no_narrow_float};
constexpr OpRow kLinearRow{.op = &kLinear, .takes = no_narrow_float};
constexpr OpRow kMatmulRow{.op = &kMatmul, .takes = no_narrow_float};
constexpr OpRow kReshapeRow{.op = &kReshape, .takes = no_narrow_float};
constexpr OpRow kSoftmaxRow{.op = &kSoftmax, .takes = no_narrow_float};
constexpr const OpRow* kRows[] = {&kAddRow,    &kCompareRow, &kConvertRow, &kLayerNormRow,
                                  &kLinearRow, &kMatmulRow,  &kReshapeRow, &kSoftmaxRow};
constexpr OpTable kTable(kRows);

Graph widened(const Graph& graph, const OpTable* table = &kTable) {
  static constexpr const Pass* kList[] = {&kWidenDtypes};
  PassContext context{.table = table, .target = "wide"};
  return run_passes(graph, kList, context, {.verify_each = true}).value_or_throw();
}

void expect_same(const Graph& graph, const OpTable* table = &kTable) {
  EXPECT_EQ(print_graph(widened(graph, table)), print_graph(graph));
}

TEST(WidenDtypes, PutsConversionsAroundTheOp) {
  const Graph graph = parse(R"(graph @main {
  %x = input : f16[2, 3]
  %w = parameter {path = "w"} : f16[3]
  %s = add %x %w @ "layer.0" !{reason = "why"}
  %y = compare %s %x {direction = "lt"}
  output %y
})");
  EXPECT_EQ(print_graph(widened(graph)), R"(graph @main {
  %x = input {name = "x"} : f16[2, 3]
  %w = parameter {path = "w"} : f16[3]
  %2 = convert %x {dtype = f32} : f32[2, 3] @ "layer.0"
  %3 = convert %w {dtype = f32} : f32[3] @ "layer.0"
  %4 = add %2 %3 : f32[2, 3] @ "layer.0"
  %s = convert %4 {dtype = f16} : f16[2, 3] @ "layer.0" !{reason = "why"}
  %6 = convert %s {dtype = f32} : f32[2, 3]
  %7 = convert %x {dtype = f32} : f32[2, 3]
  %y = compare %6 %7 {direction = "lt"} : bool[2, 3]
  output %y {name = "y"}
}
)");
}

TEST(WidenDtypes, LeavesWhatTheTargetTakesOrCannotBeHelped) {
  expect_same(parse("graph @main { %x = input : f32[2]\n %y = add %x %x\n output %y }"));
  // There is no row for exp in f32 either; legalization says so.
  expect_same(parse("graph @main { %x = input : f16[2]\n %y = exp %x\n output %y }"));
  const Graph add = parse("graph @main { %x = input : bf16[2]\n %y = add %x %x\n output %y }");
  EXPECT_NE(print_graph(widened(add)), print_graph(add));
  static constexpr const OpRow* kAny[] = {&kAnyAddRow, &kConvertRow};
  static constexpr OpTable kTakesNarrow(kAny);
  expect_same(add, &kTakesNarrow);
  static constexpr const OpRow* kNoConvert[] = {&kAddRow};
  static constexpr OpTable kCannotConvert(kNoConvert);
  expect_same(add, &kCannotConvert);
  expect_same(add, nullptr);
}

TEST(WidenDtypes, TakesAGroupApart) {
  const Graph graph = parse(
      "graph @main { %x = input : f16[2]\n"
      "%y = group %x {label = \"g\"} : f16[2] body @g { %p = input : f16[2]\n %s = add %p %p\n"
      "output %s {name = \"r\"} }\n output %y }");
  const Graph result = widened(graph);
  EXPECT_EQ(testing::count_ops(result, kGroup), 0);
  EXPECT_EQ(testing::count_ops(result, kConvert), 3);
}

// The cpu runs these ops on narrow floats itself: widen, compute in f32, round once.
TEST(WidenDtypes, GivesTheBitsOfKernelsForNarrowFloats) {
  for (const char* dtype : {"f16", "bf16"}) {
    const std::string d = dtype;
    const Graph graph = parse(
        "graph @main { %x = input : " + d + "[tokens, 8]\n" +
        "%w = parameter {path = \"w\"} : " + d + "[8, 8]\n" +
        "%g = parameter {path = \"g\"} : " + d + "[8]\n" + "%b = parameter {path = \"b\"} : " + d +
        "[8]\n" + "%n = layer_norm %x %g %b {eps = 1e-12}\n" + "%m = matmul %n %w\n" +
        "%p = softmax %m {axis = -1}\n" + "%l = linear %p %w %b\n" + "%s = add %l %x\n" +
        "%t = reshape %s {shape = [tokens, 2, 4]}\n output %t }");
    const Graph result = widened(graph);
    EXPECT_EQ(testing::count_ops(result, kLinear), 1);
    EXPECT_EQ(testing::count_ops(result, kConvert), 18);
    for (const uint64_t seed : {1U, 2U, 3U}) {
      const testing::GraphData data = testing::make_data(graph, 5, 1, seed == 3, seed);
      EXPECT_EQ(
          testing::difference(testing::run_eager(graph, data), testing::run_eager(result, data)),
          "")
          << d << " seed " << seed;
    }
  }
}

}  // namespace
}  // namespace capra
