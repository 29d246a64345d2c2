// What the budget lists, and that it attributes an effect to what causes it.
#include "models/error_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "capra/ops/convert.h"
#include "capra/ops/gelu.h"
#include "capra/ops/linear.h"
#include "capra/passes/gelu_tanh.h"
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/pipeline.h"
#include "capra/passes/policy/dtype_policy.h"
#include "capra/targets/all_targets.h"
#include "capra/targets/cpu/target.h"
#include "models/embedding_parts.h"
#include "models/verify.h"
#include "tests/models/small_model.h"

namespace capra {
namespace {

using testing::SmallModel;

constexpr std::string_view kTexts[] = {"a b c", "cafe d e a b", "a"};

struct Measured {
  ErrorBudget budget;
  double together = 0;
  size_t approximations = 0;

  std::vector<std::string> names(BudgetKind kind) const {
    std::vector<std::string> names;
    for (const BudgetPart& part : budget.parts) {
      if (part.kind == kind) names.push_back(part.name);
    }
    std::ranges::sort(names);
    return names;
  }
  const BudgetPart& part(std::string_view name) const {
    const auto found = std::ranges::find(budget.parts, name, &BudgetPart::name);
    if (found == budget.parts.end()) throw std::runtime_error(std::string(name));
    return *found;
  }
};

Measured measured(EmbeddingOptions options) {
  static const SmallModel folder;
  options.compile = false;
  const EmbeddingModel model = EmbeddingModel::load(folder.path(), options).value_or_throw();
  const PackedTokens tokens = model.tokenize(kTexts).value_or_throw();
  const Verification verified = verify_model(model, tokens, nullptr).value_or_throw();
  return {measure_budget(model, tokens).value_or_throw(), verified.vector_error,
          verified.approximations.size()};
}

using Names = std::vector<std::string>;
const Names kKernels = {"attention", "gelu", "layer_norm", "linear"};

TEST(ErrorBudget, AnExactModelHasBoundedKernelsAlone) {
  const Measured found = measured({});
  EXPECT_EQ(found.names(BudgetKind::Kernel), kKernels);
  EXPECT_EQ(found.budget.parts.size(), kKernels.size());
  double sum = 0;
  for (const BudgetPart& part : found.budget.parts) {
    EXPECT_GT(part.effect, 0) << part.name;
    EXPECT_LT(part.effect, 5e-7) << part.name;
    EXPECT_TRUE(part.bound.max_abs > 0 || part.bound.max_ulp > 0.5) << part.name;
    sum += part.effect;
  }
  EXPECT_EQ(found.budget.sum, sum);
  EXPECT_EQ(found.part("gelu").nodes, 2);
  EXPECT_EQ(found.part("layer_norm").nodes, 5);
  EXPECT_EQ(found.part("linear").nodes, 12);
}

TEST(ErrorBudget, TheOracleHasNone) {
  const Measured found = measured({.target = "interp"});
  EXPECT_TRUE(found.budget.parts.empty());
  EXPECT_EQ(found.together, 0);
}

TEST(ErrorBudget, ALegalizationsEffectIsItsOwn) {
  const Measured found = measured({.approximate = {"gelu=tanh", "gelu=tanh"}});
  EXPECT_EQ(found.names(BudgetKind::Legalization), Names{"gelu=tanh"});
  EXPECT_EQ(found.names(BudgetKind::Kernel), kKernels);
  const BudgetPart& part = found.part("gelu=tanh");
  EXPECT_EQ(part.nodes, 2);
  EXPECT_EQ(part.bound.max_abs, gelu_tanh_max_abs_error());
  EXPECT_GT(part.effect, 1e-5);
  // Nothing else is of its size, so the run of all together shows it alone.
  EXPECT_NEAR(found.together, part.effect, 2e-6);
  for (const std::string& name : kKernels) EXPECT_LT(found.part(name).effect, 5e-7) << name;
}

// What targets bring: a legalization, and linear on operands rounded to bf16.
Result<Graph> narrow(const Graph& graph, PassContext&) {
  GraphRewriter rewriter(graph);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    const bool is_done = node.op == &kLinear && graph.node(node.operands[0]).op == &kConvert;
    if (node.op != &kLinear || is_done) {
      rewriter.copy(id);
      continue;
    }
    rewriter.splice(id, [&] {
      const Tensor narrowed = convert(rewriter.tensor(node.operands[0]), DType::BF16);
      const Tensor x = convert(narrowed, DType::F32);
      return apply(kLinear,
                   {x, rewriter.tensor(node.operands[1]), rewriter.tensor(node.operands[2])},
                   node.attrs);
    });
  }
  return std::move(rewriter).finish();
}

const Target& coarse() {
  static const Target kTarget{
      .name = "coarse",
      .summary = "Narrow operands and no exact GELU.",
      .base = &cpu::kTarget,
      .optimizer = {.dag_passes = [] {
        static const Pass kTanh = gelu_tanh_legalization("coarse has no erf");
        static const Pass kNarrow{"narrow", "Linear takes bf16.", NumericEffect::Meaning, narrow};
        static const Pass* const kList[] = {&kTanh, &kNarrow, find_pass("legalize")};
        return PassList(kList);
      }}};
  return kTarget;
}

TEST(ErrorBudget, WhatATargetBrings) {
  const Measured found = measured({.target = "coarse", .targets = {&coarse()}});
  EXPECT_EQ(found.names(BudgetKind::Legalization), Names{"gelu-tanh"});
  EXPECT_EQ(found.part("gelu-tanh").reason, "coarse has no erf");
  EXPECT_EQ(found.names(BudgetKind::Narrowing), Names{"f32 -> bf16"});
  // Twelve products; in each of the two layers three of them share their operand, rounded once.
  EXPECT_EQ(found.part("f32 -> bf16").nodes, 8);
  EXPECT_GT(found.part("f32 -> bf16").effect, 1e-4);
  // The roundings are out of the measure of everything else.
  for (const std::string& name : found.names(BudgetKind::Kernel)) {
    EXPECT_LT(found.part(name).effect, 5e-7) << name;
  }
}

// Passes before those of the cpu.
template <const Pass& (*... kFirst)()>
PassList before_cpu_passes() {
  static const std::vector<const Pass*> kList = [] {
    std::vector<const Pass*> list{&kFirst()...};
    list.insert(list.end(), cpu_passes().begin(), cpu_passes().end());
    return list;
  }();
  return kList;
}

const Pass& tanh_form() {
  static const Pass kPass = gelu_tanh_legalization("it has no erf");
  return kPass;
}

TEST(ErrorBudget, WhatTheUserAndTheTargetAskForCountsOnce) {
  const Measured found =
      measured({.target = "coarse", .targets = {&coarse()}, .approximate = {"gelu=tanh"}});
  EXPECT_EQ(found.names(BudgetKind::Legalization), Names{"gelu=tanh"});
  EXPECT_EQ(found.part("gelu=tanh").nodes, 2);
}

// The tanh form of the first exact GELU in the graph.
const Pass& first_tanh_form() {
  static const Pass kPass{
      "first-tanh", "For a test.", NumericEffect::Approximate,
      [](const Graph& graph, PassContext& context) -> Result<Graph> {
        GraphRewriter rewriter(graph);
        bool is_done = false;
        for (NodeId id = 0; id < graph.size(); ++id) {
          const Node& node = graph.node(id);
          is_done = is_done || (node.op == &kGelu && node.attrs_as<GeluAttrs>().approximate);
          if (is_done || node.op != &kGelu) {
            rewriter.copy(id);
            continue;
          }
          is_done = true;
          rewriter.splice(id, [&] {
            return apply(kGelu, {rewriter.tensor(node.operands[0])}, pack(GeluAttrs{true}));
          });
          // A rewrite with its bound is all that a pass must leave.
          context.report.rewrites.push_back({.pass = "first-tanh",
                                             .rule = "tanh",
                                             .node = node_label(graph, id),
                                             .reason = "one is enough",
                                             .max_abs_error = gelu_tanh_max_abs_error()});
        }
        return std::move(rewriter).finish();
      }};
  return kPass;
}

// Each has one node; the second is measured on top of the first.
TEST(ErrorBudget, ALegalizationHasWhatThoseBeforeItLeft) {
  static const Target kTarget{
      .name = "halves",
      .summary = "Two passes for one form.",
      .base = &cpu::kTarget,
      .optimizer = {.dag_passes = before_cpu_passes<first_tanh_form, tanh_form>}};
  const Measured found = measured({.target = "halves", .targets = {&kTarget}});
  EXPECT_EQ(found.names(BudgetKind::Legalization), (Names{"first-tanh", "gelu-tanh"}));
  double sum = 0;
  for (const char* name : {"first-tanh", "gelu-tanh"}) {
    EXPECT_EQ(found.part(name).nodes, 1) << name;
    EXPECT_GT(found.part(name).effect, 1e-5) << name;
    sum += found.part(name).effect;
  }
  EXPECT_EQ(found.part("first-tanh").reason, "one is enough");
  EXPECT_EQ(found.part("gelu-tanh").reason, "it has no erf");
  EXPECT_EQ(found.approximations, 2U);
  // The two changes of a value add up to that of both, or to more.
  EXPECT_GE(sum, found.together - 2e-6);
}

const Pass& narrow_products() {
  static const Pass kPass =
      apply_dtype_policy({DTypeRule{.op = &kLinear, .dtype = DType::BF16}}, "its policy is ");
  return kPass;
}

TEST(ErrorBudget, ADtypePolicyIsTheNarrowingThatItPutsIn) {
  static const Target kTarget{.name = "narrow",
                              .summary = "Products of bf16.",
                              .base = &cpu::kTarget,
                              .optimizer = {.dag_passes = before_cpu_passes<narrow_products>}};
  const Measured found = measured({.target = "narrow", .targets = {&kTarget}});
  EXPECT_EQ(found.names(BudgetKind::Legalization), Names{});
  EXPECT_EQ(found.names(BudgetKind::Narrowing), Names{"f32 -> bf16"});
  const BudgetPart& part = found.part("f32 -> bf16");
  EXPECT_GT(part.effect, 1e-4);
  EXPECT_EQ(part.max_rel, 0x1p-8);  // bf16 has 8 binary digits
}

// Without a table there is no legal graph; the pass itself stands in the list.
TEST(ErrorBudget, ADtypePolicyOfATargetWithoutATable) {
  static const Target kTarget{.name = "narrow-oracle",
                              .summary = "Products of bf16.",
                              .base = find_target(all_targets(), "interp").value_or_throw(),
                              .optimizer = {.dag_passes = [] {
                                static const Pass* const kList[] = {&narrow_products()};
                                return PassList(kList);
                              }}};
  const Measured found = measured({.target = "narrow-oracle", .targets = {&kTarget}});
  ASSERT_EQ(found.budget.parts.size(), 1U);
  EXPECT_EQ(found.budget.parts[0].kind, BudgetKind::Legalization);
  EXPECT_EQ(found.budget.parts[0].nodes, 12);
  EXPECT_EQ(found.budget.parts[0].max_rel, 0x1p-8);
  EXPECT_GT(found.budget.parts[0].effect, 1e-4);
  EXPECT_NEAR(found.budget.parts[0].effect, found.together, 1e-8);
}

// The tanh form as a pass on the tape, with the notes and the rewrite that approximations leave.
Result<Tape> tanh_on_tape(Tape tape, PassContext& context) {
  for (TapeEntry& entry : tape.entries) {
    if (entry.op != &kGelu || unpack<GeluAttrs>(entry.attrs).approximate) continue;
    entry.attrs = pack(GeluAttrs{.approximate = true});
    entry.notes.push_back({"legalizedFrom", "gelu(approximate=false)"});
    entry.notes.push_back({"maxAbsError", gelu_tanh_max_abs_error()});
    entry.notes.push_back({"reason", "its tape has no erf"});
    context.report.rewrites.push_back({.pass = "tanh-on-tape",
                                       .rule = "tanh",
                                       .node = entry.path,
                                       .max_abs_error = gelu_tanh_max_abs_error()});
  }
  return tape;
}

TEST(ErrorBudget, WhatATargetBringsOnTheTape) {
  static const Target kTarget{
      .name = "taped",
      .summary = "Has no exact GELU.",
      .base = &cpu::kTarget,
      .optimizer = {.tape_passes = []() -> std::span<const TapePass* const> {
        static constexpr TapePass kTanh{.name = "tanh-on-tape",
                                        .summary = "For a test.",
                                        .effect = NumericEffect::Approximate,
                                        .run = tanh_on_tape};
        static constexpr const TapePass* kList[] = {&kTanh};
        return kList;
      }}};
  const Measured found = measured({.target = "taped", .targets = {&kTarget}});
  EXPECT_EQ(found.names(BudgetKind::Legalization), Names{"tanh-on-tape"});
  EXPECT_EQ(found.part("tanh-on-tape").reason, "its tape has no erf");
  EXPECT_GT(found.part("tanh-on-tape").effect, 1e-5);
}

// A row with a bound and a reason of its own.
TEST(ErrorBudget, ATargetsOwnFunction) {
  static const std::vector<OpRow> kOwn = [] {
    std::vector<OpRow> rows;
    for (const OpRow* row : resolved(cpu::kTarget).table->rows()) {
      if (row->op->name != "gelu") continue;
      rows.push_back(*row);
      rows.back().accuracy = {.max_abs = 1e-5};
      rows.back().accuracy_reason = "a table of values";
    }
    return rows;
  }();
  static const std::vector<const OpRow*> kRows = [] {
    std::vector<const OpRow*> rows;
    for (const OpRow& row : kOwn) rows.push_back(&row);
    for (const OpRow* row : resolved(cpu::kTarget).table->rows()) {
      if (row->op->name != "gelu") rows.push_back(row);
    }
    return rows;
  }();
  static const OpTable kTable(kRows);
  static const Target kTarget{
      .name = "own", .summary = "Its own gelu.", .base = &cpu::kTarget, .table = &kTable};
  const Measured found = measured({.target = "own", .targets = {&kTarget}});
  EXPECT_EQ(found.names(BudgetKind::OwnFunction), Names{"gelu"});
  EXPECT_EQ(found.part("gelu").bound.max_abs, 1e-5);
  EXPECT_EQ(found.part("gelu").reason, "a table of values");
}

}  // namespace
}  // namespace capra
