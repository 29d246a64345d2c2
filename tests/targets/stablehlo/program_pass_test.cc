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

// Each damage is done once: later runs find it and change nothing.
Status no_functions(Module& module, PassContext&) {
  module.functions.clear();
  return {};
}
Status private_entry(Module& module, PassContext&) {
  module.functions[0].is_private = true;
  return {};
}
Status another_name(Module& module, PassContext&) {
  module.functions[0].name = "other";
  return {};
}
Status another_argument(Module& module, PassContext&) {
  module.functions[0].arguments.resize(1);
  module.functions[0].arguments.push_back({"more", {DType::F32, {4}}});
  for (ValueId& result : module.functions[0].results) result = 0;
  return {};
}
Status another_result(Module& module, PassContext&) {
  module.functions[0].results.assign(2, 0);
  return {};
}
// The operation in the place of the entry's first one.
Status put(Module& module, Operation operation) {
  module.functions[0].operations[0] = std::move(operation);
  return {};
}
const TensorType kFour{DType::F32, {4}};
Status bare_iota(Module& module, PassContext&) {
  return put(module, {"stablehlo.iota", {}, kFour, {}});
}
Status text_for_a_number(Module& module, PassContext&) {
  return put(module, {"stablehlo.iota", {}, kFour, {{"dim", std::string("0")}}});
}
Status short_reduce(Module& module, PassContext&) {
  return put(module, {"stablehlo.reduce",
                      {0},
                      {DType::F32, {}},
                      {{"applies", std::string("stablehlo.add")},
                       {"dimensions", std::vector<int64_t>{0}}}});
}
Status bare_load(Module& module, PassContext&) {
  return put(module, {"util.global.load", {}, kFour, {}});
}
Status no_data(Module& module, PassContext&) {
  return put(module, {"stablehlo.constant", {}, kFour, {{"value", Array()}}});
}
Status short_slice(Module& module, PassContext&) {
  return put(module, {"stablehlo.slice",
                      {0},
                      kFour,
                      {{"starts", std::vector<int64_t>{0}},
                       {"limits", std::vector<int64_t>()},
                       {"strides", std::vector<int64_t>{1}}}});
}
Status many_groups(Module& module, PassContext&) {
  return put(
      module,
      {"tensor.collapse_shape", {0}, kFour, {{"counts", std::vector<int64_t>{int64_t{1} << 40}}}});
}
Status short_expand(Module& module, PassContext&) {
  return put(
      module,
      {"tensor.expand_shape", {0}, {DType::F32, {"n"}}, {{"counts", std::vector<int64_t>{1}}}});
}
Status wide_version(Module& module, PassContext&) {
  return put(module, {"stablehlo.composite",
                      {0},
                      kFour,
                      {{"name", std::string("some.op")},
                       {"composite_attributes", Dictionary()},
                       {"decomposition", Symbol{"main"}},
                       {"version", int64_t{1} << 32}}});
}
Status unknown_form(Module& module, PassContext&) {
  return put(module, {"stablehlo.pad", {0}, kFour, {{"low", int64_t{1}}}});
}
Status unwritten(Module& module, PassContext&) {
  module.functions[0].operations[0].attributes = {{"result_accuracy", std::string("tolerant")}};
  return {};
}
Status asks_for_nothing(Module& module, PassContext&) {
  return module.functions[0].operations[0].attribute<int64_t>("dim") == 0
             ? Status()
             : fail("op-not-legal", "never");
}
Status helper_first(Module& module, PassContext&) {
  if (module.functions[0].name == "helper") return {};
  Function helper;
  helper.name = "helper";
  helper.is_private = true;
  module.functions.insert(module.functions.begin(), helper);
  return {};
}

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

struct Damage {
  std::span<const ProgramPass* const> (*passes)();
  std::string_view at;
  std::string_view says;
};

TEST(ProgramPass, NeedsTheEntryAndWhatIsPrinted) {
  constexpr Damage kDamages[] = {
      {list_of<no_functions>, "@main", "the module has no public function of this name"},
      {list_of<private_entry>, "@main", "the module has no public function of this name"},
      {list_of<another_name>, "@main", "the module has no public function of this name"},
      {list_of<another_argument>, "@main", "the function takes or gives other types"},
      {list_of<another_result>, "@main", "the function takes or gives other types"},
      {list_of<bare_iota>, "@main: %0 = stablehlo.iota", "dim is missing, needed an integer"},
      {list_of<text_for_a_number>, "@main: %0 = stablehlo.iota", "dim is not an integer"},
      {list_of<short_reduce>, "@main: %0 = stablehlo.reduce", "found 1 operands, needed 2"},
      {list_of<bare_load>, "@main: %0 = util.global.load",
       "global is missing, needed the name of a function or global"},
      {list_of<no_data>, "@main: %0 = stablehlo.constant", "value is not data"},
      {list_of<short_slice>, "@main: %0 = stablehlo.slice", "the box has 0 limits, needed 1"},
      {list_of<many_groups>, "@main: %0 = tensor.collapse_shape", "the groups do not hold"},
      {list_of<short_expand>, "@main: %0 = tensor.expand_shape", "found 1 operands, needed 2"},
      {list_of<wide_version>, "@main: %0 = stablehlo.composite",
       "version is not an integer of 32 bits"},
      {list_of<unknown_form>, "@main: %0 = stablehlo.pad", "there is no form to write"},
      {list_of<unwritten>, "@main: %0 = stablehlo.tanh", "there is no attribute result_accuracy"},
      {list_of<asks_for_nothing>, "stablehlo.tanh", "stablehlo.tanh has no attribute dim"},
  };
  for (const Damage& damage : kDamages) {
    const Target target = with_program_passes(damage.passes);
    const auto refused = emit(graph_of_text(" %y = tanh %x"), {}, {.target = &target});
    ASSERT_FALSE(refused.ok()) << damage.says;
    EXPECT_EQ(refused.error().code, "program-invalid");
    EXPECT_EQ(refused.error().at, damage.at);
    EXPECT_TRUE(refused.error().message.starts_with(damage.says)) << refused.error().message;
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
  const Entry entry = entry_of(small().functions[0]);
  EXPECT_TRUE(verify_module(small(), entry).ok());
  const auto message = [&entry](void (*damage)(Module&)) {
    Module module = small();
    damage(module);
    const Status status = verify_module(module, entry);
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

TEST(Write, RunsTheFunctionOfTheGraphsName) {
  const std::string scratch =
      (std::filesystem::temp_directory_path() / ("helper" + std::to_string(::getpid()))).string();
  const Target target = with_program_passes(list_of<helper_first>);
  NewFolder folder = NewFolder::create(scratch).value_or_throw();
  const WrittenProgram written =
      write_program(target, graph_of_text(" %y = tanh %x"), {}, {}, folder).value_or_throw();
  EXPECT_TRUE(written.run.back().ends_with(" --function=main --input=4xf32=1"))
      << written.run.back();
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
