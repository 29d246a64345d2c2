// Targets, compilation and the eager sink in general.
#include "capra/runtime/target.h"

#include <gtest/gtest.h>

#include "capra/ops/abs.h"
#include "capra/ops/arithmetic.h"
#include "capra/ops/broadcast.h"
#include "capra/ops/exp.h"
#include "capra/runtime/eager_sink.h"
#include "capra/targets/all_targets.h"
#include "capra/targets/cpu/ops.h"
#include "capra/targets/cpu/target.h"

namespace capra {
namespace {

TEST(Targets, AreSortedAndFoundByName) {
  std::string before;
  for (const Target* target : all_targets()) {
    EXPECT_LT(before, target->name);
    before = target->name;
    EXPECT_FALSE(target->summary.empty());
    ASSERT_NE(target->availability, nullptr);
    EXPECT_FALSE(target->availability({}).detail.empty());
    const auto found = find_target(all_targets(), target->name);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(*found, target);
  }
  const auto none = find_target(all_targets(), "abacus");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, "target-unknown");
  EXPECT_NE(none.error().help.find("cpu"), std::string::npos);
  EXPECT_NE(none.error().help.find("interp"), std::string::npos);
  EXPECT_EQ(none.error().help.find("did you mean"), std::string::npos);
  const auto near = find_target(all_targets(), "cpuu");
  ASSERT_FALSE(near.ok());
  EXPECT_TRUE(near.error().help.starts_with("did you mean 'cpu'? targets: cpu, "))
      << near.error().help;
}

Graph absolute_sum() {
  Context context = TraceSink::begin("test");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor x = sink.input(context, "x", {DType::F32, {"n"}});
  const Tensor w = sink.parameter(context, "w", {DType::F32, {"n"}});
  sink.output(abs(x) + w, "y");
  return build_graph(sink.take_tape());
}

TEST(Targets, EveryTargetRunsTheSameGraph) {
  Context context = TraceSink::begin("test");
  auto& sink = static_cast<TraceSink&>(context.sink());
  const Tensor x = sink.input(context, "x", {DType::F32, {"n", 2}});
  const Tensor w = sink.parameter(context, "w", {DType::F32, {2}});
  sink.output(abs(x) + w, "y");
  const Graph graph = build_graph(sink.take_tape());
  const Parameters parameters{
      {"w", Array::of<float>(DType::F32, {2}, std::vector<float>{0.5F, -2})}};
  const Array input = Array::of<float>(DType::F32, {1, 2}, std::vector<float>{-3, 4});
  for (const Target* target : all_targets()) {
    auto executable = compile(*target, graph, parameters);
    const bool is_here = availability_of(*target).missing.empty();
    if (target->compile == nullptr || !is_here) {
      ASSERT_FALSE(executable.ok());
      EXPECT_EQ(executable.error().code, is_here ? "target-not-executable" : "tool-not-found");
      continue;
    }
    // A chip of fixed matrices has no unit for abs, and says so.
    if (target->name == "ga2") {
      ASSERT_FALSE(executable.ok());
      EXPECT_EQ(executable.error().code, "op-not-legal");
      continue;
    }
    ASSERT_TRUE(executable.ok()) << to_text(executable.error());
    EXPECT_EQ((*executable)->inputs().at(0).name, "x");
    EXPECT_EQ((*executable)->find_output("y"), 0);
    EXPECT_EQ((*executable)->find_output("z"), -1);
    Workspace workspace = (*executable)->make_workspace();
    const std::vector<InputRef> inputs{input};
    const auto bindings = (*executable)->bind(inputs);
    ASSERT_TRUE(bindings.ok());
    EXPECT_EQ(*bindings, (DimBindings{{"n", 1}}));
    const auto result = (*executable)->run(workspace, inputs);
    ASSERT_TRUE(result.ok()) << to_text(result.error());
    EXPECT_EQ(result->at(0), Array::of<float>(DType::F32, {1, 2}, std::vector<float>{3.5F, 2}))
        << target->name;
  }
}

TEST(Targets, TapePassesRunBeforeTheGraphIsBuilt) {
  static const TapePass kReplace{.name = "abs_to_exp",
                                 .summary = "Turns abs into exp.",
                                 .run = [](Tape tape, PassContext&) -> Result<Tape> {
                                   for (TapeEntry& entry : tape.entries) {
                                     if (entry.op == &kAbs) entry.op = &kExp;
                                   }
                                   return tape;
                                 }};
  Target target = cpu::kTarget;
  target.optimizer.tape_passes = [] {
    static const TapePass* const kList[] = {&kReplace};
    return std::span<const TapePass* const>(kList);
  };
  const auto graph = optimize(target, absolute_sum(), {});
  ASSERT_TRUE(graph.ok());
  int exponentials = 0;
  for (const Node& node : graph->nodes()) exponentials += node.op == &kExp ? 1 : 0;
  EXPECT_EQ(exponentials, 1);
}

TEST(Targets, OneThatOnlyWritesIsNotRun) {
  Target target = cpu::kTarget;
  target.compile = nullptr;
  const auto executable = compile(target, absolute_sum(), {});
  ASSERT_FALSE(executable.ok());
  EXPECT_EQ(executable.error().code, "target-not-executable");
}

TEST(Targets, OneThatWritesNothingRefusesWhatIsAskedOfAProgram) {
  const std::pair<WriteOptions, std::string_view> cases[] = {
      {{.keep_fused = {"gelu"}}, "--keep-fused"},
      {{.constants = ConstantPlacement{}}, "--constants"},
      {{.without = {"chlo"}}, "--no-chlo"},
      {{.archive = "irpa"}, "--weights"},
      {{.flags = {"--fast"}}, "--flag"},
      {{.calibration = "/nonexistent"}, "--calibrate"}};
  for (const auto& [asked, option] : cases) {
    for (const std::string_view name : {"cpu", "interp"}) {
      const Target& target = **find_target(all_targets(), name);
      const auto refused = compile(target, absolute_sum(), {}, {.program = asked});
      ASSERT_FALSE(refused.ok()) << name << " " << option;
      EXPECT_EQ(refused.error().code, "option-invalid");
      EXPECT_EQ(refused.error().at, option);
      EXPECT_NE(refused.error().message.find(name), std::string::npos) << refused.error().message;
    }
  }
}

// An op that no table names: it decomposes, or it is refused by name.
Tensor twice(const Tensor& x, const NoAttrs&) { return x + x; }
Result<TensorType> same_type(const TensorType& x, const NoAttrs&) { return x; }
constexpr Operand kOne[] = {{"x", "any"}};
constinit const OpDef kTwice{.name = "twice",
                             .operands = kOne,
                             .attrs = attrs_of<NoAttrs>(),
                             .infer = erase_infer<same_type>,
                             .decompose = erase_decompose<twice>};
constinit const OpDef kOpaque{.name = "opaque",
                              .operands = kOne,
                              .attrs = attrs_of<NoAttrs>(),
                              .infer = erase_infer<same_type>};

std::string code_of(const OpDef& op, const Tensor& x) {
  try {
    apply(op, {x}, {});
  } catch (const Error& error) {
    return error.diagnostic().code;
  }
  return "none";
}

TEST(EagerSink, DecomposesWhatHasNoRowAndRefusesTheRest) {
  const Context context = cpu::kTarget.eager(nullptr, nullptr);
  const Tensor x = Tensor::of_data(context, Array::scalar(DType::F32, 1.5));
  EXPECT_EQ(apply(kTwice, {x}, {}).array(), Array::scalar(DType::F32, 3));
  EXPECT_EQ(code_of(kOpaque, x), "op-not-legal");
  const Tensor truth = Tensor::of_data(context, Array::scalar(DType::Bool, 1));
  EXPECT_EQ(code_of(kTwice, truth), "operand-dtype");
}

TEST(EagerSink, RefusesAResultOfNoKnownExtent) {
  const Context context = cpu::kTarget.eager(nullptr, nullptr);
  const Tensor x = Tensor::of_data(context, Array::zeros(DType::F32, {1, 4}));
  try {
    broadcast(x, {"rows", 4});
    FAIL() << "no row count was given";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().code, "symbol-unbound");
  }
}

TEST(EagerSink, ParametersAreCheckedByPathAndType) {
  const Parameters parameters{{"w", Array::zeros(DType::F32, {3})}};
  const Context context = cpu::kTarget.eager(&parameters, nullptr);
  Sink& sink = context.sink();
  EXPECT_EQ(sink.parameter(context, "w", {DType::F32, {3}}).array(), parameters.at("w"));
  const auto code = [&](std::string_view path, const TensorType& type) -> std::string {
    try {
      sink.parameter(context, path, type);
    } catch (const Error& error) {
      return error.diagnostic().code;
    }
    return "none";
  };
  EXPECT_EQ(code("w", {DType::F32, {4}}), "parameter-type");
  EXPECT_EQ(code("v", {DType::F32, {3}}), "parameter-missing");
}

}  // namespace
}  // namespace capra
