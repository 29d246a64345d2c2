// The text-test runner notices what it is for: other text, other errors, other numbers; and it
// rewrites expected text only where execution agrees.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "capra/base/buffer.h"
#include "capra/base/new_file.h"
#include "capra/ops/all_ops.h"
#include "tools/golden/command.h"
#include "tools/golden/execute.h"
#include "tools/golden/golden_file.h"
#include "tools/golden/run_case.h"

namespace capra::golden {
namespace {

CaseResult run(const std::string& text) {
  const GoldenFile file = parse_golden(text, "test.tir").value_or_throw();
  return run_case(file, file.cases.at(0), all_ops());
}

std::string syntax_error(const std::string& text) {
  const Result<GoldenFile> file = parse_golden(text, "test.tir");
  if (file.ok()) return "no error";
  EXPECT_EQ(file.error().code, "golden-syntax");
  return file.error().at + ": " + file.error().message;
}

const std::string kGraph =
    "graph @main {\n"
    "  %x = input : f32[n]\n"
    "  %y = neg %x\n"
    "  output %y\n"
    "}\n";
const std::string kPrinted =
    "graph @main {\n"
    "  %x = input {name = \"x\"} : f32[n]\n"
    "  %y = neg %x : f32[n]\n"
    "  output %y {name = \"y\"}\n"
    "}\n";

TEST(Golden, PrintedTextIsCompared) {
  const CaseResult good = run("run print\ncase a\n" + kGraph + "expect\n" + kPrinted);
  EXPECT_TRUE(good.failures.empty()) << good.failures[0];
  EXPECT_EQ(good.executions, 2);  // with numbers, and with special values
  std::string other = kPrinted;
  other.replace(other.find("neg"), 3, "abs");
  const CaseResult bad = run("run print\ncase a\n" + kGraph + "expect\n" + other);
  ASSERT_EQ(bad.failures.size(), 1U);
  EXPECT_TRUE(bad.failures[0].starts_with("test.tir:11: case a")) << bad.failures[0];
}

TEST(Golden, ExpectSameMeansTheGraphAsItWas) {
  EXPECT_TRUE(run("run print\ncase a\n" + kPrinted + "expect same\n").failures.empty());
  const CaseResult changed =
      run("run decompose\ncase a\ngraph @main {\n  %x = input : f32[2]\n"
          "  %y = relu %x\n  output %y\n}\nexpect same\n");
  ASSERT_EQ(changed.failures.size(), 1U);
  EXPECT_TRUE(changed.failures[0].starts_with("test.tir:8:")) << changed.failures[0];
}

TEST(Golden, InferComparesTypes) {
  const std::string head = "run infer\ncase a\n" + kGraph + "expect\n";
  EXPECT_TRUE(run(head + "y : f32[n]\n").failures.empty());
  EXPECT_FALSE(run(head + "y : f32[m]\n").failures.empty());
}

TEST(Golden, ErrorsMustHaveTheCodeAndTheWords) {
  const std::string graph =
      "graph @main {\n  %x = input : bool[2]\n  %y = neg %x\n  output %y\n}\n";
  const std::string head = "run print\ncase a\n" + graph + "expect error ";
  EXPECT_TRUE(run(head + "operand-dtype\n  x is bool\n").failures.empty());
  EXPECT_FALSE(run(head + "operand-shape\n  x is bool\n").failures.empty());
  EXPECT_FALSE(run(head + "operand-dtype\n  x is i32\n").failures.empty());
  EXPECT_FALSE(run("case a\n" + graph + "expect\n").failures.empty()) << "an error nobody expects";
  const CaseResult none = run("case a\n" + kGraph + "expect error operand-dtype\n");
  ASSERT_EQ(none.failures.size(), 1U);
  EXPECT_NE(none.failures[0].find("there is none"), std::string::npos);
  EXPECT_FALSE(none.may_bless);
}

TEST(Golden, ErrorsOfTextNameTheLineOfTheFile) {
  const CaseResult result =
      run("# one\n# two\ncase a\ngraph @main {\n  %y = nagate %x\n}\nexpect\n");
  ASSERT_EQ(result.failures.size(), 1U);
  EXPECT_NE(result.failures[0].find("test.tir:5:"), std::string::npos) << result.failures[0];
}

TEST(Golden, PassesRunByName) {
  const std::string graph =
      "graph @main {\n  %x = input {name = \"x\"} : f32[2]\n  %z = exp %x : f32[2]\n"
      "  %y = neg %x : f32[2]\n  output %y {name = \"y\"}\n}\n";
  const std::string without =
      "graph @main {\n  %x = input {name = \"x\"} : f32[2]\n"
      "  %y = neg %x : f32[2]\n  output %y {name = \"y\"}\n}\n";
  const CaseResult result = run("run passes dead-code\ncase a\n" + graph + "expect\n" + without);
  EXPECT_TRUE(result.failures.empty()) << result.failures[0];
  EXPECT_EQ(result.executions, 4);  // on the oracle and, as the pass is exact, on cpu
  EXPECT_FALSE(run("run passes dead-code\ncase a\n" + graph + "expect same\n").failures.empty());
  EXPECT_TRUE(run("run passes no-such-pass\ncase a\n" + graph + "expect error pass-unknown\n")
                  .failures.empty());
}

Array f64s(std::vector<double> values) {
  return Array::of<double>(DType::F64, {static_cast<int64_t>(values.size())}, values);
}

TEST(Golden, DifferencesAreBits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::map<std::string, Array> base = {{"y", f64s({1.0, nan, 0.0})}};
  EXPECT_EQ(first_difference(base, {{"y", f64s({1.0, -nan, 0.0})}}, nullptr), "");
  EXPECT_NE(first_difference(base, {{"y", f64s({1.0, nan, -0.0})}}, nullptr), "");
  EXPECT_NE(first_difference(base, {{"y", f64s({1.0 + 0x1p-52, nan, 0.0})}}, nullptr), "");
  EXPECT_NE(first_difference(base, {{"z", f64s({1.0, nan, 0.0})}}, nullptr), "");
  EXPECT_NE(first_difference(base, {{"y", f64s({1.0, nan})}}, nullptr), "");
  const double within = 1e-3;
  EXPECT_EQ(first_difference(base, {{"y", f64s({1.0009, nan, -0.0})}}, &within), "");
  EXPECT_NE(first_difference(base, {{"y", f64s({1.002, nan, 0.0})}}, &within), "");
  EXPECT_NE(first_difference(base, {{"y", f64s({1.0, 0.0, 0.0})}}, &within), "");
}

TEST(Golden, SpecialDataHoldsSpecialValues) {
  Graph graph;
  const TensorType type{DType::F32, {Dim("n"), 100}};
  graph.append({.op = find_op({}, "input"),
                .operands = {},
                .attrs = {std::string("x"), type},
                .type = type});
  const auto special = seeded_data(graph, {}, {}, DataKind::Special, 3).value_or_throw();
  const auto finite = seeded_data(graph, {}, {}, DataKind::Finite, 3).value_or_throw();
  int nans = 0;
  int infinities = 0;
  int negative_zeros = 0;
  const Array& x = special.inputs.at("x");
  EXPECT_EQ(x.sizes(), (std::vector<int64_t>{5, 100}));
  for (int64_t i = 0; i < x.elements(); ++i) {
    const double value = x.f64_at(i);
    nans += std::isnan(value) ? 1 : 0;
    infinities += std::isinf(value) ? 1 : 0;
    negative_zeros += value == 0 && std::signbit(value) ? 1 : 0;
    EXPECT_LE(std::abs(finite.inputs.at("x").f64_at(i)), 2.0);
  }
  EXPECT_GT(nans, 5);
  EXPECT_GT(infinities, 10);
  EXPECT_GT(negative_zeros, 5);
}

TEST(Golden, SyntaxErrorsNameFileAndLine) {
  EXPECT_EQ(syntax_error(""), "test.tir: the file is empty");
  EXPECT_EQ(syntax_error("# nothing\n"), "test.tir:1: the file has no case");
  EXPECT_EQ(syntax_error("case a\n" + kGraph), "test.tir:6: case a expects nothing");
  EXPECT_EQ(syntax_error("case a\n" + kGraph + "expect same\ncase a\n"),
            "test.tir:8: two cases are called a");
  EXPECT_EQ(syntax_error("case a\ngraph @main {\n"), "test.tir:2: the graph has no closing '}'");
  EXPECT_EQ(syntax_error("case a\nwithin nothing\n"), "test.tir:2: within takes a number above 0");
  EXPECT_EQ(syntax_error("data x f32 1\n"), "test.tir:1: 'data' stands before the first case");
  EXPECT_EQ(syntax_error("run fly\n"),
            "test.tir:1: run takes print, infer, decompose, emit, or passes and their names");
  EXPECT_NE(syntax_error("case a\nfinite\n").find("'finite' is no directive, or lacks"),
            std::string::npos);
}

class GoldenFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("capra_golden_" + std::to_string(getpid())) / info->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / "case.tir").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_.parent_path()); }

  void write(const std::string& text) { ASSERT_TRUE(write_file(path_, text).ok()); }
  std::string text() { return read_file(path_).value_or_throw(); }
  int command(std::vector<std::string_view> arguments, bool ci = false) {
    output_.clear();
    return run_command(arguments, ci, output_);
  }

  std::filesystem::path folder_;
  std::string path_;
  std::string output_;
};

TEST_F(GoldenFiles, BlessRewritesExpectedTextOnly) {
  const std::string before = "# kept\nrun print\n\ncase a   \n" + kGraph +
                             "expect\n\n# kept too\n" + "case b\nrun infer\n" + kGraph +
                             "expect\nwrong\n\ncase c\n" + kPrinted + "expect same\n";
  const std::string after = "# kept\nrun print\n\ncase a   \n" + kGraph + "expect\n" + kPrinted +
                            "\n# kept too\n" + "case b\nrun infer\n" + kGraph +
                            "expect\ny : f32[n]\n\ncase c\n" + kPrinted + "expect same\n";
  write(before);
  EXPECT_EQ(command({path_}), 1);
  EXPECT_EQ(text(), before);
  EXPECT_EQ(command({"--bless", path_}, true), 2) << "never in CI";
  EXPECT_EQ(text(), before);
  EXPECT_EQ(command({"--bless", path_}), 0) << output_;
  EXPECT_EQ(text(), after);
  EXPECT_EQ(command({path_}), 0) << output_;
  EXPECT_EQ(output_, "3 cases, 0 failed, 6 executions\n");
}

// The tanh form is another function: the printed text may be right, the numbers are not.
TEST_F(GoldenFiles, BlessRefusesWhereExecutionDisagrees) {
  const std::string body =
      "graph @main {\n  %x = input : f32[8]\n  %y = gelu %x {approximate = false}\n"
      "  output %y\n}\nexpect\n";
  const std::string strict = "run passes gelu-tanh\ncase a\n" + body;
  write(strict);
  EXPECT_EQ(command({"--bless", path_}), 1);
  EXPECT_EQ(text(), strict);
  EXPECT_NE(output_.find("on the oracle"), std::string::npos) << output_;
  write("run passes gelu-tanh\ncase a\nwithin 4.8e-4\nfinite -inf has two limits\n" + body);
  EXPECT_EQ(command({"--bless", path_}), 0) << output_;
  EXPECT_NE(text().find("approximate = true"), std::string::npos);
  write("run passes gelu-tanh\ncase a\nwithin 4.8e-5\nfinite -inf has two limits\n" + body);
  EXPECT_EQ(command({"--bless", path_}), 1) << "the bound is checked";
}

TEST_F(GoldenFiles, WrongArgumentsAreRefused) {
  EXPECT_EQ(command({}), 2);
  EXPECT_EQ(command({"--blss", path_}), 2);
  EXPECT_EQ(command({"/no/such/file.tir"}), 2);
  EXPECT_NE(output_.find("file-not-found"), std::string::npos) << output_;
  write("case a\n");
  EXPECT_EQ(command({path_}), 2);
  EXPECT_NE(output_.find("golden-syntax"), std::string::npos) << output_;
}

}  // namespace
}  // namespace capra::golden
