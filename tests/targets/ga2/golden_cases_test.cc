// Every golden graph with every intermediate, and every graph that must be refused.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "capra/targets/ga2/network_json.h"
#include "capra/targets/ga2/program_json.h"
#include "capra/targets/ga2/sim/run.h"
#include "tests/targets/ga2/golden_files.h"

namespace capra::ga2 {
namespace {

// Numbers of which the golden files ask 12 digits.
void expect_near(double found, double wanted, const std::string& what) {
  EXPECT_LE(std::fabs(found - wanted), 1e-12 * std::fabs(wanted)) << what << ": " << found;
}

void expect_near(const Matrix<double>& found, const Json& wanted, const std::string& what) {
  ASSERT_EQ(static_cast<int64_t>(wanted.items().size()), found.rows) << what;
  for (int64_t i = 0; i < found.rows; ++i) {
    const std::span<const Json> row = wanted.items()[static_cast<size_t>(i)].items();
    ASSERT_EQ(static_cast<int64_t>(row.size()), found.columns) << what;
    for (int64_t j = 0; j < found.columns; ++j) {
      const double value = *row[static_cast<size_t>(j)].as_f64();
      EXPECT_NEAR(found.at(i, j), value, 1e-12 * std::max(1.0, std::fabs(value))) << what;
    }
  }
}

// Where the file expects something of the key, exactly this. Members of objects in any order.
void expect_exactly(const Json& file, std::string_view key, const Json& found) {
  const Json* wanted = expected(file, key);
  if (wanted == nullptr) return;
  if (!wanted->is_object()) {
    EXPECT_EQ(found.text(), wanted->text()) << key;
    return;
  }
  EXPECT_EQ(found.members().size(), wanted->members().size()) << key;
  for (const auto& [name, value] : wanted->members()) {
    const Json* one = found.find(name);
    ASSERT_NE(one, nullptr) << key << " " << name;
    EXPECT_EQ(one->text(), value.text()) << key << " " << name;
  }
}

// Each case in its own run, so that its name stands in the report.
class GoldenGraph : public testing::TestWithParam<std::string> {};
class GoldenRefusal : public testing::TestWithParam<std::string> {};

void expect_plan(const Json& file, const Program& program) {
  for (const auto& [node, range] : expected(file, "ranges")->members()) {
    expect_near(program.plan.ranges[std::stoul(node)], *range.as_f64(), "range of " + node);
  }
  for (const auto& [node, scale] : expected(file, "scale")->members()) {
    expect_near(program.plan.scales[std::stoul(node)], *scale.as_f64(), "scale of " + node);
  }
  Json notes = Json::array();
  for (const std::string& note : program.plan.notes) notes.push(note);
  expect_exactly(file, "notes", notes);
  expect_exactly(file, "requant", requantizers_json(program));
}

void expect_program(const Json& file, const Program& program) {
  expect_exactly(file, "node_count", program.network.size());
  expect_exactly(file, "listing", listing_json(program));
  expect_exactly(file, "instr_count", static_cast<int64_t>(program.instructions.size()));
  expect_exactly(file, "spad_high", program.scratchpad_high);
  expect_exactly(file, "ext_words", program.external_words);
  expect_exactly(file, "ext_layout", external_json(program));
  expect_exactly(file, "alloc_events", events_json(program));
  const Json* cycles = file.find("expected")->find("cycles");
  if (expected(file, "cycles") == nullptr) return;
  const Counters counters = cost(program.instructions);
  EXPECT_EQ(counters.total, *cycles->find("value")->as_i64());
  EXPECT_EQ(counters.total, counters.matrix + counters.transfer + counters.vector +
                                2 * (counters.instructions + 1));
  const Json* wanted = cycles->find("by_op");
  if (wanted == nullptr) return;
  const Json by_op = cycles_by_mnemonic(program);
  for (const auto& [mnemonic, sum] : wanted->members()) {
    ASSERT_NE(by_op.find(mnemonic), nullptr) << mnemonic;
    EXPECT_EQ(by_op.find(mnemonic)->text(), sum.text()) << mnemonic;
  }
}

void expect_without_reuse(const Json& file, const CompileRequest& request) {
  CompileOptions options = request.options;
  options.reuse = false;
  const Result<Program> program = compile(request.network, request.calibration, options);
  if (const Json* error = expected(file, "noreuse_error")) {
    ASSERT_FALSE(program.ok());
    EXPECT_EQ(program.error().message, *error->as_string());
    return;
  }
  ASSERT_TRUE(program.ok()) << to_text(program.error());
  expect_exactly(file, "listing_noreuse", listing_json(*program));
  expect_exactly(file, "spad_high_noreuse", program->scratchpad_high);
  const Json* addresses = expected(file, "spad_addr_noreuse");
  ASSERT_NE(addresses, nullptr);
  for (const auto& [node, address] : addresses->members()) {
    EXPECT_EQ(program->addresses[std::stoul(node)], address.as_i64()) << node;
  }
  // Every tensor stands in the scratchpad, with the integers of its meaning.
  const Result<Run> ran = run(*program, *request.test);
  ASSERT_TRUE(ran.ok()) << to_text(ran.error());
  const std::vector<Matrix<int32_t>> integers = interpret(*program, *request.test);
  for (NodeIndex i = 0; i < program->network.size(); ++i) {
    const std::optional<int64_t> address = program->addresses[static_cast<size_t>(i)];
    if (!address) continue;
    const Matrix<int32_t>& wanted = integers[static_cast<size_t>(i)];
    for (size_t at = 0; at < wanted.values.size(); ++at) {
      EXPECT_EQ(static_cast<int32_t>(ran->scratchpad[static_cast<size_t>(*address) + at]),
                wanted.values[at])
          << "node " << i;
    }
  }
}

void expect_run(const Json& file, const Program& program, const Sample& test) {
  const std::vector<Matrix<int32_t>> integers = interpret(program, test);
  for (const auto& [node, wanted] : expected(file, "node_ints")->members()) {
    EXPECT_EQ(matrix_json(integers[std::stoul(node)]).text(), wanted.text()) << "node " << node;
  }
  Json problems = Json::array();
  for (const std::string& one : stage_problems(program, integers)) problems.push(one);
  expect_exactly(file, "check_problems", problems);

  const Result<Run> ran = run(program, test);
  ASSERT_TRUE(ran.ok()) << to_text(ran.error());
  for (const auto& [name, wanted] : expected(file, "outputs")->members()) {
    const Output& output = ran->outputs.at(name);
    EXPECT_EQ(matrix_json(output.integers).text(), wanted.find("ints")->text()) << name;
    expect_near(output.values, *wanted.find("floats"), name);
  }
  const std::vector<Matrix<double>> real = evaluate(program.network, test);
  for (const ExternalRegion& region : program.external) {
    const Json* wanted = expected(file, "float_outputs")->find(region.name);
    if (wanted != nullptr)
      expect_near(real[static_cast<size_t>(region.node)], *wanted, region.name);
  }
  if (const Json* error = expected(file, "rel_error")) {
    EXPECT_NEAR(relative_error(program, *ran, test), *error->as_f64(), 1e-12);
  }
}

TEST_P(GoldenGraph, EveryFieldIsThere) {
  const Json file = golden_file(GetParam());
  const Result<CompileRequest> request = read_request(file, GetParam());
  ASSERT_TRUE(request.ok()) << to_text(request.error());
  const Result<Program> program = compile(request->network, request->calibration, request->options);
  ASSERT_TRUE(program.ok()) << to_text(program.error());
  expect_plan(file, *program);
  expect_program(file, *program);
  expect_without_reuse(file, *request);
  expect_run(file, *program, *request->test);
}

TEST_P(GoldenRefusal, SaysWhy) {
  const Json file = golden_file(GetParam());
  const Result<CompileRequest> request = read_request(file, GetParam());
  const bool at_build = *expected(file, "refused_at")->as_string() == "build";
  EXPECT_EQ(request.ok(), !at_build);
  const std::string& message = *expected(file, "message")->as_string();
  if (!request.ok()) {
    EXPECT_EQ(request.error().message, message);
    return;
  }
  const Result<Program> program = compile(request->network, request->calibration, request->options);
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().message, message);
  EXPECT_FALSE(program.error().help.empty());
}

std::vector<std::string> names_of(bool refusals) {
  std::vector<std::string> names;
  for (const std::string& name : golden_names()) {
    if (name != "units" && name.starts_with("refuse_") == refusals) names.push_back(name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(, GoldenGraph, testing::ValuesIn(names_of(false)),
                         [](const auto& one) { return one.param; });
INSTANTIATE_TEST_SUITE_P(, GoldenRefusal, testing::ValuesIn(names_of(true)),
                         [](const auto& one) { return one.param; });

TEST(GoldenFiles, AreAllThere) {
  EXPECT_EQ(golden_names().size(), 81u);
  EXPECT_EQ(names_of(true).size(), 20u);
}

}  // namespace
}  // namespace capra::ga2
