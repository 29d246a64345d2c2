// Program passes and tables of targets that derive from this one, and the verifier of modules.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "capra/base/buffer.h"
#include "capra/base/new_folder.h"
#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/erf.h"
#include "capra/ops/exp.h"
#include "capra/ops/softmax.h"
#include "capra/targets/stablehlo/emit.h"

namespace capra::stablehlo {
namespace {

Graph graph_of_text(const std::string& body) {
  return parse_graph("graph @main {\n %x = input : f32[4]\n" + body + "\n output %y\n}", all_ops())
      .value_or_throw();
}

// Turns the first tanh into a logistic: one a run.
Status first_tanh(Module& module, PassContext&) {
  for (Function& function : module.functions) {
    for (Operation& operation : function.operations) {
      if (operation.name != "stablehlo.tanh") continue;
      operation.name = "stablehlo.logistic";
      return {};
    }
  }
  return {};
}
Status own_result(Module& module, PassContext&) {
  for (Operation& operation : module.functions[0].operations) operation.operands[0] = 7;
  return {};
}
Status refuse(Module&, PassContext&) { return fail("op-not-legal", "no such machine", "main"); }

template <Status (*kRun)(Module&, PassContext&)>
std::span<const ProgramPass* const> list_of() {
  static constexpr ProgramPass kPass = program_pass<kRun>("a-pass", "For a test.");
  static constexpr const ProgramPass* kList[] = {&kPass};
  return kList;
}
std::span<const ProgramPass* const> foreign() {
  static constexpr ProgramPass kPass{
      .name = "beads", .summary = "Moves beads.", .dialect = "abacus", .run = nullptr};
  static constexpr const ProgramPass* kList[] = {&kPass};
  return kList;
}

Target with_program_passes(std::span<const ProgramPass* const> (*passes)()) {
  return {
      .name = "variant", .summary = "", .base = &kTarget, .optimizer = {.program_passes = passes}};
}

TEST(ProgramPass, ChangesWhatIsPrintedAndIsReported) {
  const Target target = with_program_passes(list_of<first_tanh>);
  PassReport report;
  const Module module = emit(graph_of_text(" %a = tanh %x\n %y = tanh %a"), {},
                             {.target = &target, .report = &report, .verify_each = true})
                            .value_or_throw();
  EXPECT_EQ(print_module(module).find("tanh"), std::string::npos);
  std::vector<PassChange> changes;
  std::ranges::copy_if(report.changes, std::back_inserter(changes),
                       [](const PassChange& one) { return one.stage == "program"; });
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].pass, "a-pass");
  EXPECT_EQ(changes[0].subject, "main");
  EXPECT_EQ(changes[0].before, 2);
}

TEST(ProgramPass, WhatItBreaksIsNotPrinted) {
  const Target target = with_program_passes(list_of<own_result>);
  for (const bool verify_each : {false, true}) {
    const auto refused =
        emit(graph_of_text(" %y = tanh %x"), {}, {.target = &target, .verify_each = verify_each});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "program-invalid");
    EXPECT_EQ(refused.error().at, "@main: %0 = stablehlo.tanh");
    EXPECT_EQ(refused.error().message.starts_with("after a-pass: "), verify_each);
  }
}

TEST(ProgramPass, MayRefuse) {
  const Target target = with_program_passes(list_of<refuse>);
  EXPECT_EQ(emit(graph_of_text(" %y = tanh %x"), {}, {.target = &target}).error().message,
            "no such machine");
}

TEST(ProgramPass, OfAnotherDialectIsRefused) {
  const Target target = with_program_passes(foreign);
  const auto refused = emit(graph_of_text(" %y = tanh %x"), {}, {.target = &target});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "program-pass-dialect");
  EXPECT_EQ(refused.error().message,
            "program pass beads acts on abacus; target variant writes stablehlo");
}

TEST(Table, OfATargetThatDerivesSaysWhatIsLegal) {
  static const std::vector<const OpRow*> kRows = [] {
    std::vector<const OpRow*> rows;
    for (const OpRow* row : kTarget.table->rows()) {
      if (row->op != &kErf) rows.push_back(row);
    }
    // An op without a form here is decomposed, whatever the table says.
    static constexpr OpRow kSoftmaxRow{.op = &kSoftmax};
    rows.push_back(&kSoftmaxRow);
    return rows;
  }();
  static const OpTable kTable(kRows);
  const Target target{
      .name = "no-erf", .summary = "", .base = &kTarget, .table = &kTable, .optimizer = {}};
  const auto refused = emit(graph_of_text(" %y = erf %x @ \"head\""), {}, {.target = &target});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "op-not-legal");
  EXPECT_EQ(refused.error().at, "head");
  EXPECT_TRUE(refused.error().message.starts_with("target no-erf has no row for erf(f32[4])"));
  const Graph softmax = graph_of_text(" %y = softmax %x {axis = 0}");
  EXPECT_EQ(print_module(emit(softmax, {}, {.target = &target}).value_or_throw()),
            print_module(emit(softmax, {}).value_or_throw()));
}

// Rows may take fewer types than this target's.
bool takes_f64(TypeRefs operands, const Attrs&, const TensorType&) {
  return operands[0]->dtype == DType::F64;
}

TEST(Table, MayTakeFewerTypes) {
  static constexpr OpRow kNarrow{.op = &kExp, .takes = takes_f64};
  static constexpr const OpRow* kRows[] = {&kNarrow};
  static constexpr OpTable kTable(kRows);
  const Target target{
      .name = "narrow", .summary = "", .base = &kTarget, .table = &kTable, .optimizer = {}};
  EXPECT_EQ(emit(graph_of_text(" %y = exp %x"), {}, {.target = &target}).error().code,
            "op-not-legal");
  const Graph wide =
      parse_graph("graph @main { %x = input : f64[4]\n %y = exp %x\n output %y }", all_ops())
          .value_or_throw();
  EXPECT_TRUE(emit(wide, {}, {.target = &target}).ok());
}

Module small() {
  Function body;
  body.name = "body";
  body.is_private = true;
  body.arguments.push_back({"a", {DType::F32, {4}}});
  body.results = {body.append({"stablehlo.tanh", {0}, {DType::F32, {4}}})};
  Function main;
  main.name = "main";
  main.arguments.push_back({"x", {DType::F32, {4}}});
  main.append({"util.global.load", {}, {DType::F32, {4}}, {{"global", Symbol{"w"}}}});
  main.results = {main.append({"stablehlo.composite",
                               {1},
                               {DType::F32, {4}},
                               {{"name", std::string("capra.tanh")},
                                {"composite_attributes", Dictionary()},
                                {"decomposition", Symbol{"body"}},
                                {"version", int64_t{1}}}})};
  return {{{"w", "model", "w", {DType::F32, {4}}}}, {main, body}};
}

TEST(VerifyModule, FindsEachFault) {
  EXPECT_TRUE(verify_module(small()).ok());
  const auto message = [](void (*damage)(Module&)) {
    Module module = small();
    damage(module);
    const Status status = verify_module(module);
    return status.ok() ? std::string() : status.error().at + ": " + status.error().message;
  };
  EXPECT_EQ(message([](Module& m) { m.functions[1].name = "main"; }),
            "@main: two functions or globals have this name");
  EXPECT_EQ(message([](Module& m) { m.globals[0].name = "body"; }),
            "@body: two functions or globals have this name");
  EXPECT_EQ(
      message([](Module& m) { m.functions[0].arguments.push_back(m.functions[0].arguments[0]); }),
      "@main: two arguments are called %x");
  EXPECT_EQ(message([](Module& m) { m.functions[1].operations[0].operands = {-1}; }),
            "@body: %0 = stablehlo.tanh: an operand does not come before its user");
  EXPECT_EQ(message([](Module& m) { m.functions[1].results = {2}; }),
            "@body: a result is no value of the function");
  EXPECT_EQ(message([](Module& m) { m.globals[0].name = "v"; }),
            "@main: %0 = util.global.load: the module has no @w");
  EXPECT_EQ(message([](Module& m) { m.globals[0].type = {DType::F32, {5}}; }),
            "@main: %0 = util.global.load: @w is f32[5], what is loaded f32[4]");
  EXPECT_EQ(message([](Module& m) { m.functions[1].name = "other"; }),
            "@main: %1 = stablehlo.composite: the module has no @body");
  EXPECT_EQ(message([](Module& m) { m.functions[0].operations[1].operands = {}; }),
            "@main: %1 = stablehlo.composite: @body takes or gives other types");
}

TEST(Write, HandsOnFlagsAndRefusesUnknownExtensions) {
  const std::string scratch =
      (std::filesystem::temp_directory_path() / ("program" + std::to_string(::getpid()))).string();
  const Graph graph = graph_of_text(" %y = tanh %x");
  {
    NewFolder folder = NewFolder::create(scratch).value_or_throw();
    const auto refused = write_program(kTarget, graph, {}, {.without = {"vhlo"}}, folder);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "option-invalid");
    EXPECT_EQ(write_program(kTarget, graph, {}, {.flags = {"--a b"}}, folder).error().code,
              "option-invalid");
    const WrittenProgram written =
        write_program(kTarget, graph, {}, {.without = {"chlo"}, .flags = {"--more"}}, folder)
            .value_or_throw();
    std::vector<std::string> names;
    for (const FolderFile& file : folder.files()) names.push_back(file.name);
    EXPECT_EQ(names, (std::vector<std::string>{"model.mlir", "iree.flags"}));
    EXPECT_TRUE(written.archive.empty());
    EXPECT_EQ(written.flags.back(), "--more");
    const std::string flags = read_file(folder.file("iree.flags")).value_or_throw();
    EXPECT_TRUE(flags.ends_with("\n--more\n")) << flags;
  }
  EXPECT_FALSE(std::filesystem::exists(scratch));
}

}  // namespace
}  // namespace capra::stablehlo
