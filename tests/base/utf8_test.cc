// Ill-formed UTF-8: where it is found, and how many replacements it becomes.
#include "capra/base/text/utf8.h"

#include <gtest/gtest.h>

namespace capra {
namespace {

using namespace std::string_literals;

struct Case {
  std::string text;
  std::string repaired;
  size_t replaced;
};

const std::string kR = "\xef\xbf\xbd";

// The replacement counts are those of the Unicode standard 15.0, section 3.9, tables 3-8 to 3-11
// (U+FFFD substitution of maximal subparts).
TEST(Utf8, ReplacesMaximalSubpartsAsTheStandardsTables) {
  const Case cases[] = {
      {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"s, kR + kR + kR + kR + kR + kR + kR + kR + "A", 8},
      {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"s, kR + kR + kR + kR + kR + kR + kR + kR + "A", 8},
      {"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"s, kR + kR + kR + kR + kR + "A" + kR + kR + "B", 7},
      {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"s, kR + kR + kR + kR + "A", 4},
  };
  for (const Case& c : cases) {
    const RepairedUtf8 repaired = repair_utf8(c.text);
    EXPECT_EQ(repaired.text, c.repaired);
    EXPECT_EQ(repaired.replaced, c.replaced);
    EXPECT_FALSE(first_invalid_utf8(repaired.text));
  }
}

TEST(Utf8, WellFormedTextStays) {
  for (const std::string& text :
       {""s, "plain ascii, longer than one machine word"s, "\x00\x7f"s, "\xC2\x80\xDF\xBF"s,
        "\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF"s, "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"s}) {
    EXPECT_FALSE(first_invalid_utf8(text));
    EXPECT_EQ(repair_utf8(text).text, text);
    EXPECT_EQ(repair_utf8(text).replaced, 0u);
  }
}

TEST(Utf8, NamesTheFirstBadByte) {
  EXPECT_EQ(first_invalid_utf8("\x80"), 0u);
  EXPECT_EQ(first_invalid_utf8("12345678\xff"), 8u);
  EXPECT_EQ(first_invalid_utf8("1234567\xc3\xa4\xc3"), 9u);
  EXPECT_EQ(first_invalid_utf8("abc\xf0\x9f\x98"), 3u);
}

TEST(Utf8, TruncatedSequenceAtTheEndIsOneReplacement) {
  EXPECT_EQ(repair_utf8("a\xf0\x9f\x98").text, "a" + kR);
  EXPECT_EQ(repair_utf8("a\xf0\x9f\x98").replaced, 1u);
}

}  // namespace
}  // namespace capra
