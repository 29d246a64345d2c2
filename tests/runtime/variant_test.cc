// Targets that are variants of another: what they inherit, what they run less of, what they keep.
#include <gtest/gtest.h>

#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ops/abs.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/erf.h"
#include "capra/ops/erfc.h"
#include "capra/ops/exp.h"
#include "capra/ops/gelu.h"
#include "capra/passes/gelu_tanh.h"
#include "capra/runtime/target.h"
#include "capra/targets/cpu/target.h"

namespace capra {
namespace {

// The rows of the cpu but those that `leave` names.
std::vector<const OpRow*> rows_without(bool (*leave)(const OpRow& row)) {
  std::vector<const OpRow*> rows;
  for (const OpRow* row : cpu::kTarget.table->rows()) {
    if (!leave(*row)) rows.push_back(row);
  }
  return rows;
}

bool takes_tanh_form(TypeRefs operands, const Attrs& attrs, const TensorType& result) {
  return unpack<GeluAttrs>(attrs).approximate &&
         cpu::kTarget.table->find(kGelu, operands, attrs, result) != nullptr;
}

PassList no_erf_passes() {
  static const Pass kLegalization = gelu_tanh_legalization("there is no erf");
  static const std::vector<const Pass*> kList = [] {
    std::vector<const Pass*> list{&kLegalization};
    list.insert(list.end(), cpu_passes().begin(), cpu_passes().end());
    return list;
  }();
  return kList;
}

// Without erf, and with a recorded replacement for the op that is made of it.
const Target& no_erf() {
  static constexpr OpRow kTanhGelu{.op = &kGelu, .takes = takes_tanh_form};
  static const std::vector<const OpRow*> kRows = [] {
    std::vector<const OpRow*> rows = rows_without(
        [](const OpRow& row) { return row.op == &kErf || row.op == &kErfc || row.op == &kGelu; });
    rows.push_back(&kTanhGelu);
    return rows;
  }();
  static const OpTable kTable(kRows);
  static const Target kTarget{.name = "no-erf",
                              .summary = "The cpu without erf.",
                              .base = &cpu::kTarget,
                              .table = &kTable,
                              .optimizer = {.dag_passes = no_erf_passes}};
  return kTarget;
}

// Primitives, and gelu as it is.
const Target& keeps_gelu() {
  static const std::vector<const OpRow*> kRows =
      rows_without([](const OpRow& row) { return row.op->decompose != nullptr; });
  static const OpTable kTable(kRows);
  static constexpr const OpDef* kKept[] = {&kGelu};
  static const Target kTarget{
      .name = "keeps-gelu",
      .summary = "Primitives and gelu.",
      .base = &cpu::kTarget,
      .table = &kTable,
      .optimizer = {.dag_passes =
                        [] {
                          static const Pass* const kList[] = {find_pass("legalize")};
                          return PassList(kList);
                        },
                    .granularity = [] { return Granularity{kKept}; }}};
  return kTarget;
}

Graph parsed(const std::string& body) {
  return parse_graph("graph @main {\n %x = input : f32[4]\n" + body + "\n output %y\n}", all_ops())
      .value_or_throw();
}

Array some() { return Array::of<float>(DType::F32, {4}, std::vector<float>{-3, -0.5F, 1, 2.7F}); }

Array run(const Target& target, const Graph& graph, const CompileOptions& options = {}) {
  auto executable = compile(target, graph, {}, options).value_or_throw();
  Workspace workspace = executable->make_workspace();
  const Array x = some();
  const std::vector<InputRef> inputs{x};
  return executable->run(workspace, inputs).value_or_throw().at(0);
}

int count(const Graph& graph, const OpDef& op) {
  int found = 0;
  for (const Node& node : graph.nodes()) found += node.op == &op ? 1 : 0;
  return found;
}

std::string eager_code(const Target& target, const OpDef& op, const Attrs& attrs) {
  try {
    apply(op, {Tensor::of_data(eager_context(target), some())}, attrs);
  } catch (const Error& error) {
    return error.diagnostic().code;
  }
  return "none";
}

const std::string kExact = "%y = gelu %x {approximate = false} @ \"layer.0\"";
const std::string kTanh = "%y = gelu %x {approximate = true} @ \"layer.0\"";

TEST(Variant, TakesWhatItLeavesNullFromTheNearestBase) {
  const Target middle{.name = "middle", .summary = "", .base = &no_erf()};
  const Target whole = resolved(middle);
  EXPECT_EQ(whole.name, "middle");
  EXPECT_EQ(whole.table, no_erf().table);
  EXPECT_EQ(whole.optimizer.dag_passes, no_erf_passes);
  EXPECT_EQ(whole.eager, cpu::kTarget.eager);
  EXPECT_EQ(whole.compile, cpu::kTarget.compile);
  EXPECT_EQ(availability_of(middle).detail, availability_of(cpu::kTarget).detail);
  const Target alone{.name = "alone", .summary = ""};
  EXPECT_TRUE(availability_of(alone).missing.empty());
  EXPECT_FALSE(eager_context(alone));
}

// What a list of its own leaves out of the base's does not run.
TEST(Variant, AListOfItsOwnStandsInThePlaceOfItsBases) {
  const auto legalize_alone = [] {
    static const Pass* const kList[] = {find_pass("legalize")};
    return PassList(kList);
  };
  const Target bare{.name = "bare",
                    .summary = "",
                    .base = &cpu::kTarget,
                    .optimizer = {.dag_passes = legalize_alone}};
  const Graph graph = parsed(
      " %w = constant {value = f32[4] [1, 2, 3, 4]}\n %s = add %x %w\n"
      " %y = layer_norm %s %w %w {eps = 1e-12}");
  EXPECT_EQ(count(optimize(cpu::kTarget, graph, {}).value_or_throw(), kGroup), 1);
  EXPECT_EQ(count(optimize(bare, graph, {}).value_or_throw(), kGroup), 0);
  EXPECT_EQ(run(bare, graph), run(cpu::kTarget, graph));
}

TEST(Variant, LegalizesOnTheRecordWhereItSaysSo) {
  PassReport report;
  const Graph legal = optimize(no_erf(), parsed(kExact), {}, {.report = &report}).value_or_throw();
  const std::vector<Approximation> found = approximations(legal);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].node, "layer.0");
  EXPECT_EQ(found[0].legalized_from, "gelu(approximate=false)");
  EXPECT_EQ(found[0].legalized_to, "gelu(approximate=true)");
  EXPECT_EQ(found[0].reason, "there is no erf");
  EXPECT_EQ(found[0].max_abs_error, 4.8e-4);
  EXPECT_EQ(report.lines, (std::vector<std::string>{
                              "GELU_APPROX_LEGALIZED node=layer.0: gelu(approximate=false) -> "
                              "gelu(approximate=true) [there is no erf] maxAbsError=4.8E-4"}));
  EXPECT_EQ(run(no_erf(), parsed(kExact)), run(cpu::kTarget, parsed(kTanh)));
  EXPECT_NE(run(no_erf(), parsed(kExact)), run(cpu::kTarget, parsed(kExact)));
  // Its base does not.
  EXPECT_TRUE(approximations(optimize(cpu::kTarget, parsed(kExact), {}).value_or_throw()).empty());
}

TEST(Variant, ApproximatesWithoutOptimizationToo) {
  const CompileOptions plain{.optimize = false};
  EXPECT_EQ(run(no_erf(), parsed(kExact), plain), run(cpu::kTarget, parsed(kTanh)));
  PassReport made;
  const Graph graph = approximate_for(no_erf(), parsed(kExact), &made).value_or_throw();
  EXPECT_EQ(made.lines.size(), 1U);
  EXPECT_EQ(approximations(graph).size(), 1U);
  // What is recorded already is not recorded again.
  PassReport report;
  ASSERT_TRUE(optimize(no_erf(), graph, {}, {.report = &report}).ok());
  EXPECT_TRUE(report.lines.empty());
  EXPECT_EQ(approximate_for(cpu::kTarget, parsed(kExact)).value_or_throw(), parsed(kExact));
}

TEST(Variant, RefusesABareErf) {
  for (const bool optimized : {true, false}) {
    const auto legal =
        optimize(no_erf(), parsed("%y = erf %x @ \"head\""), {}, {.optimize = optimized});
    ASSERT_FALSE(legal.ok());
    EXPECT_EQ(legal.error().code, "op-not-legal");
    EXPECT_EQ(legal.error().at, "head");
    EXPECT_EQ(legal.error().message,
              "target no-erf has no row for erf(f32[4]); the op is a primitive and cannot be "
              "decomposed");
  }
}

TEST(Variant, FoldsNothingThatItDoesNotRun) {
  const std::string constant = " %c = constant {value = f32[4] [-3, -0.5, 1, 2.7]}\n";
  const std::string sum = "\n %y = add %x %g";
  const Graph exact = parsed(constant + " %g = gelu %c {approximate = false}" + sum);
  const Graph tanh = parsed(constant + " %g = gelu %c {approximate = true}" + sum);
  EXPECT_EQ(run(no_erf(), exact), run(cpu::kTarget, tanh));
  const auto refused = optimize(no_erf(), parsed(constant + " %g = erf %c" + sum), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "op-not-legal");
}

TEST(Variant, EagerCallsGoByItsOwnTable) {
  const Attrs exact = pack(GeluAttrs{.approximate = false});
  const Attrs tanh = pack(GeluAttrs{.approximate = true});
  EXPECT_EQ(eager_code(no_erf(), kErf, {}), "op-not-legal");
  EXPECT_EQ(eager_code(no_erf(), kGelu, exact), "op-not-legal");
  EXPECT_EQ(eager_code(no_erf(), kGelu, tanh), "none");
  EXPECT_EQ(eager_code(cpu::kTarget, kErf, {}), "none");
  for (const Target* target : {&no_erf(), &keeps_gelu()}) {
    const Tensor x = Tensor::of_data(eager_context(*target), some());
    EXPECT_EQ(gelu(x, {.approximate = true}).array(), run(cpu::kTarget, parsed(kTanh)));
  }
}

TEST(Variant, EagerParametersComeFromTheBase) {
  const Parameters parameters{{"w", some()}};
  const Context context = eager_context(no_erf(), &parameters);
  const Scope scope(context, "head");
  EXPECT_EQ(context.sink().parameter(context, "w", some().type()).array(), some());
  try {
    erf(context.sink().parameter(context, "w", some().type()));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().at, "head");
  }
}

TEST(Granularity, KeepsAnOpWithoutARow) {
  const Graph kept = optimize(keeps_gelu(), parsed(kExact), {}).value_or_throw();
  EXPECT_EQ(count(kept, kGelu), 1);
  EXPECT_EQ(run(keeps_gelu(), parsed(kExact)), run(cpu::kTarget, parsed(kExact)));
  // Near misses: another op of the same kind, and the same target without the hook.
  const Graph silu = optimize(keeps_gelu(), parsed("%y = silu %x"), {}).value_or_throw();
  EXPECT_EQ(count(silu, *find_op(all_ops(), "silu")), 0);
  Target without_hook = resolved(keeps_gelu());
  without_hook.optimizer.granularity = nullptr;
  const Graph inlined = optimize(without_hook, parsed(kExact), {}).value_or_throw();
  EXPECT_EQ(count(inlined, kGelu), 0);
  EXPECT_EQ(count(inlined, kErf), 1);
}

TEST(Granularity, KeepsAnOpInsideAGroup) {
  const Graph graph = parsed(
      "%y = group %x {label = \"g\"} : f32[4] body @g { %p = input : f32[4]\n"
      "%s = gelu %p {approximate = false}\n output %s {name = \"r\"} }");
  EXPECT_EQ(count(optimize(keeps_gelu(), graph, {}).value_or_throw(), kGroup), 1);
}

TEST(Variant, InheritsTapePasses) {
  static const TapePass kReplace{.name = "abs-to-exp",
                                 .summary = "Turns abs into exp.",
                                 .run = [](Tape tape, PassContext&) -> Result<Tape> {
                                   for (TapeEntry& entry : tape.entries) {
                                     if (entry.op == &kAbs) entry.op = &kExp;
                                   }
                                   return tape;
                                 }};
  Target base = cpu::kTarget;
  base.optimizer.tape_passes = [] {
    static const TapePass* const kList[] = {&kReplace};
    return std::span<const TapePass* const>(kList);
  };
  const Target target{.name = "variant", .summary = "", .base = &base};
  EXPECT_EQ(count(optimize(target, parsed("%y = abs %x"), {}).value_or_throw(), kExp), 1);
}

}  // namespace
}  // namespace capra
