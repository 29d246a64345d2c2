// The stages: what each hook changes, what is said of it, and what is refused.
#include "capra/runtime/stages.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "capra/ir/text.h"
#include "capra/ir/verify.h"
#include "capra/ops/abs.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/exp.h"
#include "capra/ops/neg.h"
#include "capra/passes/passes.h"
#include "capra/targets/cpu/target.h"

namespace capra {
namespace {

Graph parsed(const std::string& body) {
  return parse_graph("graph @main {\n %x = input : f32[4]\n" + body + "\n output %y\n}", all_ops())
      .value_or_throw();
}

// Turns the first abs of the tape into exp: one a run, so that the fixed point needs several.
Result<Tape> first_abs_to_exp(Tape tape, PassContext&) {
  for (TapeEntry& entry : tape.entries) {
    if (entry.op != &kAbs) continue;
    entry.op = &kExp;
    break;
  }
  return tape;
}
Result<Tape> later_operand(Tape tape, PassContext&) {
  for (size_t i = 0; i < tape.entries.size(); ++i) {
    if (tape.entries[i].op == &kAbs) tape.entries[i].operands[0] = static_cast<int32_t>(i);
  }
  return tape;
}
Result<Tape> back_and_forth(Tape tape, PassContext&) {
  for (TapeEntry& entry : tape.entries) {
    if (entry.op == &kAbs || entry.op == &kNeg) entry.op = entry.op == &kAbs ? &kNeg : &kAbs;
  }
  return tape;
}

template <Result<Tape> (*kRun)(Tape, PassContext&)>
std::span<const TapePass* const> tape_list() {
  static constexpr TapePass kPass{.name = "tape-pass", .summary = "For a test.", .run = kRun};
  static constexpr const TapePass* kList[] = {&kPass};
  return kList;
}

Target with_tape_passes(std::span<const TapePass* const> (*passes)()) {
  return {.name = "variant",
          .summary = "",
          .base = &cpu::kTarget,
          .optimizer = {.tape_passes = passes}};
}

TEST(TapePasses, RunToAFixedPointAndAreReported) {
  const Target target = with_tape_passes(tape_list<first_abs_to_exp>);
  const Graph graph = parsed(" %a = abs %x\n %b = abs %a\n %c = abs %b\n %y = add %c %a");
  PassContext context;
  const Graph changed = run_tape_passes(target, graph, context, true).value_or_throw();
  for (const Node& node : changed.nodes()) EXPECT_NE(node.op, &kAbs);
  ASSERT_EQ(context.report.changes.size(), 3U);
  for (const PassChange& change : context.report.changes) {
    EXPECT_EQ(change.stage, "tape");
    EXPECT_EQ(change.subject, "main");
    EXPECT_EQ(change.pass, "tape-pass");
    EXPECT_EQ(change.before, change.after);
  }
  // A pass that finds nothing is not in the report.
  PassContext again;
  EXPECT_EQ(run_tape_passes(target, changed, again).value_or_throw(), changed);
  EXPECT_TRUE(again.report.changes.empty());
}

TEST(TapePasses, OpenGroups) {
  const Target target = with_tape_passes(tape_list<first_abs_to_exp>);
  const Graph graph = parsed(
      " %y = group %x {label = \"g\"} : f32[4] body @g { %p = input : f32[4]\n"
      "%s = abs %p\n output %s {name = \"r\"} }");
  PassContext context;
  const Graph changed = run_tape_passes(target, graph, context).value_or_throw();
  EXPECT_EQ(print_graph(changed).find("group"), std::string::npos);
  EXPECT_NE(print_graph(changed).find("exp"), std::string::npos);
}

TEST(TapePasses, AreVerifiedOnRequest) {
  const Graph graph = parsed(" %y = abs %x");
  const Target target = with_tape_passes(tape_list<later_operand>);
  PassContext context;
  const auto refused = run_tape_passes(target, graph, context, true);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "graph-invalid");
  EXPECT_TRUE(refused.error().internal);
  EXPECT_TRUE(refused.error().message.starts_with("after tape-pass: ")) << refused.error().message;
  // By the options of compiling as well.
  const auto compiled = compile(target, graph, {}, {.verify_each = true});
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(compiled.error().code, "graph-invalid");
}

TEST(TapePasses, ThatNeverSettleAreABug) {
  PassContext context;
  const auto refused =
      run_tape_passes(with_tape_passes(tape_list<back_and_forth>), parsed(" %y = abs %x"), context);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "passes-unsettled");
  EXPECT_NE(refused.error().message.find("changed the tape"), std::string::npos);
}

int count(const Graph& graph, const OpDef& op) {
  return static_cast<int>(std::ranges::count(graph.nodes(), &op, &Node::op));
}

// Another function in the place of abs: what runs eagerly, op by op and optimized is the same.
TEST(TapePasses, ThatApproximateRunOnEveryRoad) {
  Target target = with_tape_passes([]() -> std::span<const TapePass* const> {
    static constexpr TapePass kApproximation{
        .name = "abs-is-exp",
        .summary = "For a test.",
        .effect = NumericEffect::Approximate,
        .run = [](Tape tape, PassContext& context) {
          context.report.rewrites.push_back(
              {.pass = "abs-is-exp", .rule = "exp", .node = "%a", .max_abs_error = 1});
          return first_abs_to_exp(std::move(tape), context);
        }};
    static constexpr TapePass kExact{
        .name = "exact", .summary = "For a test.", .run = [](Tape tape, PassContext&) {
          for (TapeEntry& entry : tape.entries) entry.path = "changed";
          return Result<Tape>(std::move(tape));
        }};
    static constexpr const TapePass* kList[] = {&kApproximation, &kExact};
    return kList;
  });
  const Graph graph = parsed(
      " %a = neg %x\n %b = abs %a\n %c = neg %a\n %d = abs %c\n"
      " %y = add %b %d");
  const Graph eager = approximate_for(target, graph).value_or_throw();
  const Graph plain = optimize(target, graph, {}, {.optimize = false}).value_or_throw();
  const Graph optimized = optimize(target, graph, {}).value_or_throw();
  for (const Graph* one : {&eager, &plain, &optimized}) {
    EXPECT_EQ(count(*one, kAbs), 0) << print_graph(*one);
    EXPECT_EQ(count(*one, kExp), 2) << print_graph(*one);
  }
  // The other passes of the list are for optimized graphs.
  EXPECT_EQ(eager.node(1).path, "");
  EXPECT_EQ(plain.node(1).path, "");
  EXPECT_EQ(optimized.node(1).path, "changed");
  // Without a pass that approximates groups stay as they are.
  const Graph grouped = parsed(
      " %y = group %x {label = \"g\"} : f32[4] body @g { %p = input : f32[4]\n"
      "%s = neg %p\n output %s {name = \"r\"} }");
  target.optimizer.tape_passes = tape_list<first_abs_to_exp>;
  EXPECT_EQ(approximate_for(target, grouped).value_or_throw(), grouped);
}

// A pass may stand in the core passes and in the target's own list: each run counts where it was.
TEST(Stages, EachRunOfAPassIsInOneList) {
  Target target = cpu::kTarget;
  target.optimizer.dag_passes = [] {
    static const Pass kSpell{
        "spell", "For a test.", NumericEffect::Exact, [](const Graph& graph, PassContext& context) {
          if (count(graph, kExp) == 0) return Result<Graph>(graph);
          context.report.rewrites.push_back({.pass = "spell", .rule = "again", .node = "%y"});
          return Result<Graph>(parsed(" %a = neg %x\n %b = neg %a\n %y = sqrt %b"));
        }};
    static const Pass* const kList[] = {&kSpell, &kCanonicalize, &kLegalize};
    return PassList(kList);
  };
  PassReport report;
  const Graph graph = parsed(" %a = neg %x\n %b = neg %a\n %y = exp %b");
  ASSERT_TRUE(optimize(target, graph, {}, {.report = &report}).ok());
  using Names = std::vector<std::pair<std::string, std::string_view>>;
  Names changes;
  for (const PassChange& one : report.changes) changes.emplace_back(one.pass, one.list);
  EXPECT_EQ(
      changes,
      (Names{{"canonicalize", kCorePasses}, {"spell", kDagPasses}, {"canonicalize", kDagPasses}}));
  Names rewrites;
  for (const Rewrite& one : report.rewrites) rewrites.emplace_back(one.pass, one.list);
  EXPECT_EQ(rewrites, changes);
  for (const Rewrite& one : report.rewrites) EXPECT_EQ(one.effect, NumericEffect::Exact);
}

TEST(Verify, ATapeOfWhatCannotBeAGraph) {
  Tape tape = build_tape(parsed(" %y = abs %x"));
  EXPECT_TRUE(verify(tape).ok());
  Tape without_op = tape;
  without_op.entries[1].op = nullptr;
  EXPECT_EQ(verify(without_op).error().code, "graph-invalid");
  tape.entries[1].type = {DType::F32, {5}};
  EXPECT_EQ(verify(tape).error().code, "graph-invalid");
}

TEST(GraphPasses, LegalizeLastWhereThereIsATable) {
  Target target = cpu::kTarget;
  target.optimizer.dag_passes = nullptr;
  static constexpr OpTable kNothing{std::span<const OpRow* const>()};
  target.table = &kNothing;
  const auto refused = optimize(target, parsed(" %y = abs %x"), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "op-not-legal");
}

TEST(GraphPasses, SayHowManyNodesThereWere) {
  PassReport report;
  const Graph graph = parsed(" %a = neg %x\n %b = neg %a\n %y = abs %b");
  const Graph changed = optimize(cpu::kTarget, graph, {}, {.report = &report}).value_or_throw();
  ASSERT_FALSE(report.changes.empty());
  EXPECT_EQ(report.changes.front().stage, "graph");
  EXPECT_EQ(report.changes.front().before, graph.size());
  EXPECT_EQ(report.changes.back().after, changed.size());
}

std::span<const ProgramPass* const> abacus_passes() {
  static constexpr ProgramPass kPass{
      .name = "beads", .summary = "Moves beads.", .dialect = "abacus", .run = nullptr};
  static constexpr const ProgramPass* kList[] = {&kPass};
  return kList;
}

TEST(ProgramPasses, OfAnotherDialectAreRefused) {
  const Target target{.name = "variant",
                      .summary = "",
                      .base = &cpu::kTarget,
                      .optimizer = {.program_passes = abacus_passes}};
  const auto compiled = compile(target, parsed(" %y = abs %x"), {});
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(compiled.error().code, "program-pass-dialect");
  EXPECT_EQ(compiled.error().message,
            "program pass beads acts on abacus; target variant runs graphs and writes no program");
  EXPECT_TRUE(check_program_passes(target, "abacus").ok());
  EXPECT_EQ(check_program_passes(target, "slide-rule").error().message,
            "program pass beads acts on abacus; target variant writes slide-rule");
}

TEST(CompileFlags, OfOneNameReplaceEachOther) {
  const std::vector<std::string> own{"--level=2", "--strip", "--cpu=host"};
  const std::vector<std::string> more{"--level=3", "--strip=false", "--new", "--level=1"};
  EXPECT_EQ(with_flags(own, more),
            (std::vector<std::string>{"--level=1", "--strip=false", "--cpu=host", "--new"}));
  EXPECT_EQ(with_flags(own, {}), own);
}

}  // namespace
}  // namespace capra
