// The fast schedule beside the author's: the same outputs in no more cycles.
#include "capra/targets/ga2/schedule/fast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capra/targets/ga2/network_json.h"
#include "capra/targets/ga2/quantize/fixed_point.h"
#include "capra/targets/ga2/sim/run.h"
#include "tests/targets/ga2/battery/random_network.h"
#include "tests/targets/ga2/battery/wild_network.h"
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

// Outputs of inputs and of views, sums of a tensor and its view, what only one schedule places.
TEST(FastSchedule, GivesTheOutputsOfWildGraphs) {
  int compiled = 0;
  for (int64_t seed = 0; seed < 1000; ++seed) {
    const std::optional<Problems> problems = wild_problems(wild_case(seed));
    if (!problems) continue;
    ++compiled;
    EXPECT_EQ(*problems, Problems()) << seed;
  }
  EXPECT_GT(compiled, 500);
}

// Every row of up to 7 scores that are the largest or one or two below it: the smaller the others,
// the further apart are the levels.
TEST(FastSchedule, ScoresOfUpTo7ColumnsHaveTheirArgmaxAlready) {
  const Multiplier to_levels = *multiplier_of(127.0 / 65536);
  for (size_t columns = 1; columns <= 7; ++columns) {
    std::vector<int32_t> row(columns, 0);
    for (bool more = true; more;) {
      std::vector<uint32_t> fractions(columns);
      softmax_row(row, fractions);
      std::vector<int32_t> levels;
      levels.reserve(columns);
      for (const uint32_t one : fractions) {
        levels.push_back(requantize(static_cast<int32_t>(one), to_levels, false));
      }
      ASSERT_EQ(std::ranges::max_element(levels) - levels.begin(),
                std::ranges::max_element(row) - row.begin());
      // The next row, as a number of `columns` digits.
      size_t digit = 0;
      while (digit < columns && row[digit] == 2) row[digit++] = 0;
      more = digit < columns;
      if (more) ++row[digit];
    }
  }
}

int64_t count_of(const Program& program, std::string_view mnemonic) {
  return std::ranges::count_if(program.instructions, [&](const Instruction& one) {
    return std::visit([&]<class T>(const T&) { return T::kMnemonic == mnemonic; }, one);
  });
}

Matrix<double> filled(Extents shape, double step) {
  Matrix<double> matrix(shape.rows, shape.columns);
  for (size_t i = 0; i < matrix.values.size(); ++i) {
    matrix.values[i] = step * static_cast<double>(i * 7 % 11) - 3 * step;
  }
  return matrix;
}

// x w + bias, with a product that nothing uses, an equal weight, two outputs of one tensor, one of
// a row of it, an argmax of a softmax that nothing else reads, and an input of which two rows are
// used.
TEST(FastSchedule, LeavesOutWhatNoOutputNeeds) {
  Network network;
  const NodeIndex x = *network.input("x", {4, 8});
  const NodeIndex tall = *network.input("tall", {40, 8});
  const NodeIndex w = *network.weight("w", filled({8, 6}, 0.2));
  const NodeIndex same = *network.weight("same", filled({8, 6}, 0.2));
  const NodeIndex bias = *network.weight("bias", filled({4, 6}, 0.5));
  const NodeIndex product = *network.matmul(x, w);
  (void)*network.matmul(x, w, false, 0.5);
  const NodeIndex sum = *network.add(product, bias);
  (void)*network.output(sum, "sum");
  (void)*network.output(sum, "again");
  (void)*network.output(*network.slice_rows(sum, 2, 1), "row");
  const NodeIndex two = *network.slice_rows(tall, 38, 2);
  const NodeIndex scores = *network.matmul(two, same);
  (void)*network.output(*network.argmax(*network.softmax(scores)), "place");
  const Sample sample{{"x", filled({4, 8}, 0.3)}, {"tall", filled({40, 8}, 0.1)}};
  const std::vector<Sample> samples{sample};
  EXPECT_EQ(schedule_problems(network, samples, {}, sample), Problems());

  const Result<Program> fast = compile(network, samples, {.schedule = Schedule::Fast});
  ASSERT_TRUE(fast.ok());
  // The last 2 rows of `tall`, x, w once and the bias.
  ASSERT_EQ(count_of(*fast, "LD"), 1);
  EXPECT_EQ(std::get<Load>(fast->instructions[0]), (Load{0, 38 * 8, 2 * 8 + 32 + 48 + 24}));
  EXPECT_EQ(count_of(*fast, "MM"), 4);
  EXPECT_EQ(count_of(*fast, "SM"), 0);
  EXPECT_EQ(count_of(*fast, "AMAX"), 2);
  // Two of products and one of the sum's first operand.
  EXPECT_EQ(count_of(*fast, "RQ"), 3);
  EXPECT_EQ(count_of(*fast, "ST"), 1);
  // Every name has its place outside, and equal weights have one.
  std::map<std::string, int64_t> addresses;
  for (const ExternalRegion& one : fast->external) addresses[one.name] = one.address;
  EXPECT_EQ(addresses.size(), 9U);
  EXPECT_EQ(addresses.at("same"), addresses.at("w"));
}

// A store at the end finds its words as they were computed.
TEST(FastSchedule, LoadsNothingOverAnOutput) {
  Network network;
  const NodeIndex a = *network.input("a", {1, 2});
  (void)*network.output(*network.argmax(a), "place");
  const NodeIndex x = *network.input("x", {3, 16});
  (void)*network.output(*network.slice_rows(x, 1, 1), "row");
  const Sample sample{{"a", filled({1, 2}, 1)}, {"x", filled({3, 16}, 0.3)}};
  const std::vector<Sample> samples{sample};
  EXPECT_EQ(schedule_problems(network, samples, {}, sample, false), Problems());
}

// One score of ten is a step above the others: as probabilities all are 13 levels, so the first is
// the largest.
TEST(FastSchedule, KeepsASoftmaxWhoseLevelsMeet) {
  Network network;
  (void)*network.output(*network.argmax(*network.softmax(*network.input("x", {1, 10}))), "place");
  Sample sample{{"x", Matrix<double>(1, 10)}};
  sample["x"].at(0, 3) = 1.0 / 16;
  const std::vector<Sample> samples{sample};
  EXPECT_EQ(schedule_problems(network, samples, {}, sample), Problems());
  const Result<Program> fast = compile(network, samples, {.schedule = Schedule::Fast});
  ASSERT_TRUE(fast.ok());
  const Result<capra::ga2::Run> ran = run(*fast, sample);
  ASSERT_TRUE(ran.ok());
  EXPECT_EQ(ran->outputs.at("place").integers.values, std::vector<int32_t>{0});
}

// Of two concatenated products, rows of the second alone.
TEST(FastSchedule, ComputesTheRowsOfAConcatThatAreRead) {
  Network network;
  const NodeIndex w = *network.weight("w", filled({8, 6}, 0.2));
  const NodeIndex upper = *network.matmul(*network.input("x", {2, 8}), w);
  const NodeIndex lower = *network.matmul(*network.input("y", {5, 8}), w);
  (void)*network.output(*network.slice_rows(*network.concat_rows(upper, lower), 4, 2), "rows");
  const Sample sample{{"x", filled({2, 8}, 0.3)}, {"y", filled({5, 8}, 0.4)}};
  const std::vector<Sample> samples{sample};
  EXPECT_EQ(schedule_problems(network, samples, {}, sample), Problems());
  const Result<Program> fast = compile(network, samples, {.schedule = Schedule::Fast});
  ASSERT_TRUE(fast.ok());
  // Two rows of one product.
  EXPECT_EQ(count_of(*fast, "MM"), 2);
}

// A weight as the second operand of both kinds of product, and one that a sum reads at a scale of
// its own beside another reader.
TEST(FastSchedule, SharesWeightsThatAreReadInTwoWays) {
  Network network;
  const NodeIndex x = *network.input("x", {4, 6});
  const NodeIndex w = *network.weight("w", filled({6, 6}, 0.2));
  const NodeIndex bias = *network.weight("bias", filled({4, 6}, 0.01));
  const NodeIndex product = *network.matmul(x, w);
  (void)*network.output(*network.matmul(x, w, true), "turned");
  (void)*network.output(*network.add(product, bias), "sum");
  (void)*network.output(*network.matmul(bias, w), "other");
  const Sample sample{{"x", filled({4, 6}, 0.3)}};
  const std::vector<Sample> samples{sample};
  EXPECT_EQ(schedule_problems(network, samples, {}, sample), Problems());
}

// The first rows of two inputs: another load costs less than the 24 words between them; 8 words are
// loaded rather than skipped.
TEST(FastSchedule, LoadsNoMoreThanALoadIsWorth) {
  for (const int64_t rows : {10, 6}) {
    Network network;
    const NodeIndex x = *network.slice_rows(*network.input("x", {rows, 4}), 0, 4);
    const NodeIndex y = *network.slice_rows(*network.input("y", {rows, 4}), 0, 4);
    (void)*network.output(*network.add(x, y), "sum");
    const Sample sample{{"x", filled({rows, 4}, 0.3)}, {"y", filled({rows, 4}, 0.3)}};
    const std::vector<Sample> samples{sample};
    EXPECT_EQ(schedule_problems(network, samples, {}, sample), Problems());
    const Result<Program> fast = compile(network, samples, {.schedule = Schedule::Fast});
    ASSERT_TRUE(fast.ok());
    EXPECT_EQ(count_of(*fast, "LD"), rows == 10 ? 2 : 1);
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
