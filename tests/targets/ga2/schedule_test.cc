// The fast schedule beside the author's: the same outputs in no more cycles.
#include "capra/targets/ga2/schedule/fast.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "capra/targets/ga2/network_json.h"
#include "capra/targets/ga2/schedule/least_cycles.h"
#include "capra/targets/ga2/sim/run.h"
#include "tests/targets/ga2/battery/random_network.h"
#include "tests/targets/ga2/golden_files.h"
#include "tests/targets/ga2/schedule_table.h"

namespace capra::ga2 {
namespace {

Result<Program> compiled(const Network& network, std::span<const Sample> calibration,
                         CompileOptions options, Schedule schedule) {
  options.schedule = schedule;
  return compile(network, calibration, options);
}

// What must hold of every graph that both schedules compile.
void expect_same_outputs(const Network& network, std::span<const Sample> calibration,
                         const CompileOptions& options, const Sample& test) {
  const Result<Program> author = compiled(network, calibration, options, Schedule::Author);
  const Result<Program> fast = compiled(network, calibration, options, Schedule::Fast);
  ASSERT_TRUE(author.ok()) << to_text(author.error());
  ASSERT_TRUE(fast.ok()) << to_text(fast.error());
  EXPECT_EQ(fast->schedule, Schedule::Fast);
  EXPECT_LE(fast->scratchpad_high, kScratchpadWords);
  EXPECT_LE(fast->external_words, options.external_words);
  const Result<Run> slow_run = run(*author, test);
  const Result<Run> fast_run = run(*fast, test);
  ASSERT_TRUE(slow_run.ok()) << to_text(slow_run.error());
  ASSERT_TRUE(fast_run.ok()) << to_text(fast_run.error());
  EXPECT_LT(fast_run->counters.total, slow_run->counters.total);
  EXPECT_EQ(fast_run->counters, cost(fast->instructions));
  const Result<Places> places = place(network);
  const Result<int64_t> least = least_cycles(network, fast->plan, *places);
  ASSERT_TRUE(least.ok());
  EXPECT_LE(*least, fast_run->counters.total);
  ASSERT_EQ(fast_run->outputs.size(), slow_run->outputs.size());
  for (const auto& [name, wanted] : slow_run->outputs) {
    EXPECT_EQ(fast_run->outputs.at(name).integers, wanted.integers) << name;
    EXPECT_EQ(fast_run->outputs.at(name).values, wanted.values) << name;
  }
  const std::vector<Matrix<int32_t>> integers = interpret(*fast, test);
  EXPECT_EQ(integers, interpret(*author, test));
  EXPECT_EQ(stage_problems(*fast, integers), stage_problems(*author, integers));
}

void expect_golden(const Json& file, const CompileRequest& request) {
  const Result<Program> fast =
      compiled(request.network, request.calibration, request.options, Schedule::Fast);
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
  expect_same_outputs(request->network, request->calibration, request->options, *request->test);
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
      SCOPED_TRACE(std::string(case_kind_name(kind)) + " " + std::to_string(seed));
      const Case one = random_case(kind, seed);
      expect_same_outputs(one.network, one.calibration, {}, one.test);
      if (testing::Test::HasFailure()) return;
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
