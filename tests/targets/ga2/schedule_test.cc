// The fast schedule beside the author's: the same outputs in no more cycles.
#include "capra/targets/ga2/schedule/fast.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "capra/targets/ga2/network_json.h"
#include "capra/targets/ga2/sim/run.h"
#include "tests/targets/ga2/battery/random_network.h"
#include "tests/targets/ga2/golden_files.h"
#include "tests/targets/ga2/schedule_checks.h"
#include "tests/targets/ga2/schedule_table.h"

namespace capra::ga2 {
namespace {

using Problems = std::vector<std::string>;

void expect_golden(const Json& file, const CompileRequest& request) {
  CompileOptions options = request.options;
  options.schedule = Schedule::Fast;
  const Result<Program> fast = compile(request.network, request.calibration, options);
  const Result<Run> ran = run(*fast, *request.test);
  for (const auto& [name, wanted] : expected(file, "outputs")->members()) {
    std::vector<int32_t> integers;
    for (const Json& row : wanted.find("ints")->items()) {
      for (const Json& value : row.items())
        integers.push_back(static_cast<int32_t>(*value.as_i64()));
    }
    EXPECT_EQ(ran->outputs.at(name).integers.values, integers) << name;
  }
  if (const Json* cycles = expected(file, "cycles")) {
    EXPECT_LT(ran->counters.total, *cycles->as_i64());
  }
}

class GoldenSchedule : public testing::TestWithParam<std::string> {};

TEST_P(GoldenSchedule, IsFasterAndGivesTheGoldenOutputs) {
  const Json file = golden_file(GetParam());
  const Result<CompileRequest> request = read_request(file, GetParam());
  ASSERT_TRUE(request.ok()) << to_text(request.error());
  EXPECT_EQ(
      schedule_problems(request->network, request->calibration, request->options, *request->test),
      Problems());
  expect_golden(file, *request);
}

std::vector<std::string> graphs() {
  std::vector<std::string> names = golden_names();
  std::erase_if(names, [](const std::string& name) {
    return name == "units" || name.starts_with("refuse_");
  });
  return names;
}

INSTANTIATE_TEST_SUITE_P(, GoldenSchedule, testing::ValuesIn(graphs()),
                         [](const auto& one) { return one.param; });

TEST(FastSchedule, GivesTheOutputsOfRandomGraphs) {
  for (const CaseKind kind : {CaseKind::Graph, CaseKind::Int4, CaseKind::Slice}) {
    for (int64_t seed = 0; seed < 60; ++seed) {
      const Case one = random_case(kind, seed);
      EXPECT_EQ(schedule_problems(one.network, one.calibration, {}, one.test), Problems())
          << case_kind_name(kind) << " " << seed;
    }
  }
}

TEST(FastSchedule, HasItsCyclesInTheDocs) {
  std::ifstream file(std::string(CAPRA_SOURCE_DIR) + "/docs/ga2.md");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::string table = schedule_table();
  EXPECT_NE(text.find(table), std::string::npos) << table;
}

}  // namespace
}  // namespace capra::ga2
