// The generated cases are those of the golden files, and the programs those of the published table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "capra/targets/ga2/network_json.h"
#include "tests/targets/ga2/battery/checks.h"
#include "tests/targets/ga2/golden_files.h"
#include "tests/targets/ga2/same_network.h"

namespace capra::ga2 {
namespace {

// Every number to its last bit: graph, calibration samples and the sample to run.
void expect_golden(const Case& made, const std::string& name) {
  SCOPED_TRACE(name);
  const Result<CompileRequest> wanted = read_request(golden_file(name), name);
  ASSERT_TRUE(wanted.ok()) << to_text(wanted.error());
  expect_same(made.network, wanted->network);
  EXPECT_EQ(made.calibration, wanted->calibration);
  EXPECT_EQ(made.test, wanted->test);
}

TEST(Battery, SeedsMakeTheGoldenCases) {
  const auto expect_range = [](CaseKind kind, const char* name, int64_t first, int64_t count) {
    for (int64_t seed = first; seed < first + count; ++seed) {
      expect_golden(random_case(kind, seed), fmt::format("{}{:02}", name, seed));
    }
  };
  expect_range(CaseKind::Fresh, "graph", 100, 6);
  expect_range(CaseKind::Graph, "battery", 0, 30);
  expect_range(CaseKind::Slice, "slice", 0, 10);
  expect_range(CaseKind::Int4, "int4_", 0, 5);
  expect_golden(cancellation_case(), "cancellation");
}

// A row of the table on seeds 100 to 111.
struct Row {
  int64_t seed, nodes, instructions, high, high_kept, cycles;
  std::string error_percent;
};

TEST(Battery, ProgramsHaveThePublishedTotals) {
  const Row kRows[] = {
      {100, 15, 20, 240, 282, 830, "2.92"},  {101, 21, 40, 184, 325, 1497, "2.62"},
      {102, 13, 24, 145, 329, 1124, "2.35"}, {103, 11, 32, 480, 684, 2659, "3.21"},
      {104, 10, 15, 38, 47, 237, "0.00"},    {105, 18, 46, 203, 471, 2200, "3.71"},
      {106, 12, 41, 276, 528, 2600, "2.37"}, {107, 15, 26, 221, 418, 1503, "1.52"},
      {108, 18, 33, 175, 385, 1183, "1.62"}, {109, 13, 24, 64, 138, 770, "1.07"},
      {110, 11, 21, 188, 328, 1080, "2.48"}, {111, 16, 27, 198, 430, 1339, "1.68"},
  };
  int64_t cycles = 0;
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.seed);
    const Case made = random_case(CaseKind::Fresh, row.seed);
    const CheckResult result = check_case(made, error_bound(CaseKind::Fresh));
    EXPECT_EQ(result.problems, std::vector<std::string>());
    EXPECT_EQ(made.network.size(), row.nodes);
    EXPECT_EQ(result.instructions, row.instructions);
    EXPECT_EQ(result.scratchpad_high, row.high);
    EXPECT_EQ(result.scratchpad_high_kept, row.high_kept);
    EXPECT_EQ(result.counters.total, row.cycles);
    EXPECT_EQ(fmt::format("{:.2f}", result.error * 100), row.error_percent);
    cycles += result.counters.total;
  }
  EXPECT_EQ(cycles, 17022);  // printed beside the table
}

// "0.16 is twice the worst error the correct compiler has on the 60 battery graphs (0.079)".
TEST(Battery, TheWorstErrorOfThe60GraphsIsThePublishedOne) {
  double worst = 0;
  for (int64_t seed = 0; seed < 60; ++seed) {
    const CheckResult result =
        check_case(random_case(CaseKind::Graph, seed), error_bound(CaseKind::Graph));
    EXPECT_EQ(result.problems, std::vector<std::string>()) << seed;
    worst = std::max(worst, result.error);
  }
  EXPECT_EQ(fmt::format("{:.3f}", worst), "0.079");
}

// A check that cannot fail says nothing: a program that is wrong, or a bound below the error.
TEST(Battery, ChecksFindWhatIsWrong) {
  Case one = random_case(CaseKind::Graph, 1);
  const CheckResult fine = check_case(one, error_bound(CaseKind::Graph));
  ASSERT_GT(fine.error, 0.01);
  EXPECT_EQ(check_case(one, fine.error).problems, std::vector<std::string>());
  EXPECT_EQ(check_case(one, fine.error / 2).problems.size(), 1u);
  one.calibration.clear();
  EXPECT_EQ(check_case(one, 1).problems.size(), 2u);
}

}  // namespace
}  // namespace capra::ga2
