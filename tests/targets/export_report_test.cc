// The report of an exported program, for targets that the driver alone does not have.
#include "tools/capra/export_report.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"
#include "capra/passes/passes.h"
#include "capra/targets/stablehlo/target.h"

namespace capra::driver {
namespace {

Graph parsed(const std::string& body) {
  return parse_graph("graph @main {\n %x = input : f32[4]\n" + body + "\n output %y\n}", all_ops())
      .value_or_throw();
}

// Makes work for canonicalize, once.
Result<Graph> spell(const Graph& graph, PassContext& context) {
  for (const Node& node : graph.nodes()) {
    if (node.op->name != "exp") continue;
    context.report.rewrites.push_back({.pass = "spell", .rule = "again", .node = "%y"});
    return parsed(" %a = neg %x\n %b = neg %a\n %y = sqrt %b");
  }
  return graph;
}

int64_t sum_of(const Json& stage, std::string_view key) {
  int64_t sum = 0;
  for (const Json& pass : stage.find("passes")->items()) sum += *pass.find(key)->as_i64();
  return sum;
}

TEST(ExportReport, EachRunOfAPassIsToldInOneStage) {
  Target target{.name = "variant", .summary = "For a test.", .base = &stablehlo::kTarget};
  target.optimizer.dag_passes = [] {
    static const Pass kSpell{"spell", "For a test.", NumericEffect::Exact, spell};
    static const Pass* const kList[] = {&kSpell, &kCanonicalize, &kLegalize};
    return PassList(kList);
  };
  const Graph graph = parsed(" %a = neg %x\n %b = neg %a\n %y = exp %b");
  NewFolder folder =
      NewFolder::create_temporary(std::filesystem::temp_directory_path() / "capra_export_report")
          .value_or_throw();
  const WrittenProgram written = write_program(target, graph, {}, {}, folder).value_or_throw();
  const Json report = export_report({.model = "m",
                                     .target = target,
                                     .graph = graph,
                                     .asked = {},
                                     .written = written,
                                     .folder = folder});
  std::vector<std::pair<std::string, int64_t>> changes;
  int64_t all_changes = 0;
  int64_t all_rewrites = 0;
  for (const Json& stage : report.find("stages")->items()) {
    all_changes += sum_of(stage, "changes");
    all_rewrites += sum_of(stage, "rewrites");
    if (sum_of(stage, "changes") == 0) continue;
    changes.emplace_back(*stage.find("name")->as_string(), sum_of(stage, "changes"));
  }
  // canonicalize before the target's list and in it, and the pass that made work for it.
  EXPECT_EQ(changes,
            (std::vector<std::pair<std::string, int64_t>>{{"core passes", 1}, {"dag passes", 2}}));
  EXPECT_EQ(all_changes, static_cast<int64_t>(report.find("passes")->items().size()));
  EXPECT_EQ(all_rewrites, static_cast<int64_t>(report.find("rewrites")->items().size()));
}

}  // namespace
}  // namespace capra::driver
