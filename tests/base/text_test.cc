// Number text, names, diagnostics and results.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "capra/base/diagnostic.h"
#include "capra/base/nearest_name.h"
#include "capra/base/number_text.h"
#include "capra/base/result.h"

namespace capra {
namespace {

// Shortest texts as Python's repr gives them (3.11), but for the exponent's sign and the final .0.
TEST(NumberText, IsTheShortest) {
  const std::pair<double, const char*> doubles[] = {
      {0.1, "0.1"},
      {1.0 / 3, "0.3333333333333333"},
      {0.70710678118654757, "0.7071067811865476"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {1e22, "1e+22"},
      {123456789012345680.0, "123456789012345680"},
      {1e-12, "1e-12"},
      {100, "100"},
      {-0.0, "-0"},
      {std::numeric_limits<double>::infinity(), "inf"},
      {-std::numeric_limits<double>::infinity(), "-inf"},
      {std::numeric_limits<double>::quiet_NaN(), "nan"},
      {-std::numeric_limits<double>::quiet_NaN(), "nan"},
  };
  for (const auto& [value, text] : doubles) EXPECT_EQ(number_text(value), text);
  EXPECT_EQ(number_text(0.1f), "0.1");
  EXPECT_EQ(number_text(16777216.0f), "16777216");
  EXPECT_EQ(number_text(1e-45f), "1e-45");
  EXPECT_EQ(number_text(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(number_text(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
}

TEST(NumberText, ReadsBackTheSameBits) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const auto wide = std::bit_cast<double>(random());
    const auto narrow = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isnan(wide)) {
      const auto back = parse_f64(number_text(wide));
      ASSERT_TRUE(back.has_value()) << number_text(wide);
      ASSERT_EQ(std::bit_cast<uint64_t>(*back), std::bit_cast<uint64_t>(wide));
    }
    if (!std::isnan(narrow)) {
      const auto back = parse_f32(number_text(narrow));
      ASSERT_TRUE(back.has_value()) << number_text(narrow);
      ASSERT_EQ(std::bit_cast<uint32_t>(*back), std::bit_cast<uint32_t>(narrow));
    }
  }
  EXPECT_TRUE(std::isnan(*parse_f64("nan")));
}

TEST(NumberText, TakesWholeTextsInOneSpelling) {
  EXPECT_EQ(parse_f64("1e3"), 1000.0);
  EXPECT_EQ(parse_f64("1E3"), 1000.0);
  EXPECT_EQ(parse_f64("-.5"), -0.5);
  EXPECT_EQ(parse_f32("16777217"), 16777216.0f);  // to even
  EXPECT_EQ(parse_i64("-12"), -12);
  for (const char* text : {"", " 1", "1 ", "+1", "1.5.2", "0x10", "1e", "--1", "infinity", "INF",
                           "NaN", "-nan", "nan(1)", "1e400", "1,5", "1f"}) {
    EXPECT_EQ(parse_f64(text), std::nullopt) << text;
  }
  for (const char* text : {"", "1.0", "9223372036854775808", "1e3", "+1", "0x1", " 1", "true"}) {
    EXPECT_EQ(parse_i64(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_u64("-1"), std::nullopt);
  EXPECT_EQ(parse_u64("18446744073709551616"), std::nullopt);
}

TEST(NearestName, CountsEditsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("gleu", "gelu"), 1);
  EXPECT_EQ(edit_distance("abc", "abc"), 0);
}

TEST(NearestName, IsEmptyWhenNothingIsNear) {
  const std::string_view names[] = {"gelu", "relu", "softmax", "layer_norm"};
  EXPECT_EQ(nearest_name("gleu", names), "gelu");
  EXPECT_EQ(nearest_name("elu", names), "gelu");  // the first among equals
  EXPECT_EQ(nearest_name("layernorm", names), "layer_norm");
  EXPECT_EQ(nearest_name("soft_max", names), "softmax");
  EXPECT_EQ(nearest_name("conv2d", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'a'), names), "");
  EXPECT_EQ(did_you_mean("gleu", names), "did you mean 'gelu'?");
  EXPECT_EQ(did_you_mean("conv2d", names), "");
  EXPECT_EQ(did_you_mean("gelu", {}), "");
}

TEST(Diagnostics, PrintTheirParts) {
  EXPECT_EQ(to_text({"some-code", "what was found"}), "error[some-code]: what was found");
  EXPECT_EQ(to_text({"some-code", "what", "here", "do that"}),
            "error[some-code]: what\n  at: here\n  help: do that");
  EXPECT_EQ(to_text({.code = "c-d", .message = "m", .internal = true}), "internal error[c-d]: m");
  EXPECT_STREQ(Error({"some-code", "what", "here"}).what(), "error[some-code]: what\n  at: here");
}

TEST(Diagnostics, CodesAreSortedAndFound) {
  const auto codes = diagnostic_codes();
  ASSERT_GT(codes.size(), 10u);
  for (size_t i = 1; i < codes.size(); ++i) EXPECT_LT(codes[i - 1].code, codes[i].code);
  for (const DiagnosticCode& one : codes) {
    EXPECT_EQ(find_diagnostic_code(one.code), &one);
    EXPECT_FALSE(one.line.empty());
    EXPECT_NE(one.line.back(), '.');
  }
  EXPECT_EQ(find_diagnostic_code("no-such-code"), nullptr);
  EXPECT_EQ(find_diagnostic_code("zzz"), nullptr);
}

Result<int> half_of(int number) {
  if (number % 2 != 0) return fail("operand-shape", "odd", "here", "give an even one");
  return number / 2;
}

Result<std::string> quarter_text(int number) {
  CAPRA_ASSIGN(const int half, half_of(number));
  CAPRA_ASSIGN(const int quarter, half_of(half));
  return std::to_string(quarter);
}

Status check_even(int number) {
  CAPRA_TRY(half_of(number));
  return {};
}

TEST(Results, CarryAValueOrADiagnostic) {
  EXPECT_EQ(*quarter_text(12), "3");
  const Result<std::string> failed = quarter_text(6);
  ASSERT_FALSE(failed.ok());
  EXPECT_FALSE(static_cast<bool>(failed));
  EXPECT_EQ(failed.error().code, "operand-shape");
  EXPECT_EQ(failed.error().help, "give an even one");
  EXPECT_TRUE(check_even(4).ok());
  EXPECT_FALSE(check_even(5).ok());
}

TEST(Results, ThrowWhereAsked) {
  EXPECT_EQ(half_of(4).value_or_throw(), 2);
  EXPECT_THROW(half_of(5).value_or_throw(), Error);
  EXPECT_THROW(check_even(5).or_throw(), Error);
  EXPECT_NO_THROW(check_even(4).or_throw());
}

TEST(Results, MoveOnlyValues) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> moved = *std::move(result);
  EXPECT_EQ(*moved, 5);
}

TEST(ResultsDeathTest, TheWrongHalfAborts) {
  EXPECT_DEATH(static_cast<void>(half_of(5).value()), "check-failed");
  EXPECT_DEATH(static_cast<void>(half_of(4).error()), "check-failed");
}

}  // namespace
}  // namespace capra
