// The tokenizer of all-MiniLM-L6-v2: the golden ids, and the faults known of other implementations.
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "capra/io/json.h"
#include "capra/io/tokenizer.h"
#include "tests/io/model_folder.h"

namespace capra {
namespace {

using Ids = std::vector<int32_t>;

struct GoldenText {
  std::string text;
  Ids ids;
};

std::vector<GoldenText> golden_texts() {
  const auto json =
      read_json_file(std::string(CAPRA_SOURCE_DIR) + "/tests/golden/minilm/texts.json");
  std::vector<GoldenText> texts;
  for (const Json& row : json->items()) {
    GoldenText text{*row.find("text")->as_string(), {}};
    for (const Json& id : row.find("token_ids")->items()) {
      text.ids.push_back(static_cast<int32_t>(*id.as_i64()));
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

class TokenizerModelTest : public ::testing::Test {
 protected:
  static const Tokenizer& tokenizer() {
    static const Tokenizer instance = [] {
      auto opened = Tokenizer::open_folder(test_model_folder());
      if (!opened.ok()) throw Error(opened.error());
      return *std::move(opened);
    }();
    return instance;
  }
  static Ids ids(std::string_view text) {
    const auto encoded = tokenizer().encode(text);
    EXPECT_TRUE(encoded.ok());
    return encoded.ok() ? encoded->ids : Ids{};
  }
};

TEST_F(TokenizerModelTest, GoldenIdsAreEqual) {
  const auto texts = golden_texts();
  ASSERT_EQ(texts.size(), 44u);
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto encoded = tokenizer().encode(texts[i].text, {.max_tokens = 512});
    ASSERT_TRUE(encoded.ok()) << i;
    EXPECT_EQ(encoded->ids, texts[i].ids) << "row " << i;
    EXPECT_EQ(encoded->dropped, i == 19 ? 701 - 512 : 0) << "row " << i;
    EXPECT_EQ(encoded->replaced, 0);
  }
}

TEST_F(TokenizerModelTest, DeclaresWhatTheFileHolds) {
  EXPECT_EQ(tokenizer().vocabulary_size(), 30522);
  EXPECT_EQ(tokenizer().id_bound(), 30522);
  EXPECT_EQ(tokenizer().special_tokens(), 2);
  EXPECT_EQ(tokenizer().token_id("[SEP]"), 102);
  EXPECT_EQ(tokenizer().description().find("normalizer_changed")->as_bool(), false);
}

// Values: the pure Python BertTokenizer of transformers 4.46.3 on this model's vocab.txt,
// do_lower_case.
TEST_F(TokenizerModelTest, FaultsKnownOfOthersAreAbsent) {
  const std::string hundred(100, 'a');
  Ids pieces(52, 11057);  // "##aa"
  pieces.front() = 101;
  pieces[1] = 13360;  // "aaa"
  pieces[50] = 2050;  // "##a"
  pieces[51] = 102;
  const struct {
    const char* fault;
    std::string text;
    Ids ids;
  } cases[] = {
      {"accents and macrons are stripped",
       "Petrovi\u0107 and Y\u016b",
       {101, 9004, 12298, 2594, 1998, 9805, 102}},
      {"the ASCII form is the same", "Petrovic and Yu", {101, 9004, 12298, 2594, 1998, 9805, 102}},
      {"marks outside U+0300 to U+036F are stripped",
       "a\u1dc4b x\u20d7 \u05d1\u05b0 c\ufe20d",
       {101, 11113, 1060, 1242, 3729, 102}},
      {"private use is removed, as the reference does", "\uf059", {101, 102}},
      {"private use inside a word", "a\uf059b", {101, 11113, 102}},
      {"U+2027 is punctuation",
       "syl\u2027la\u2027ble",
       {101, 25353, 2140, 100, 2474, 100, 1038, 2571, 102}},
      {"curly quotes are punctuation",
       "\u201cquoted\u201d \u2018single\u2019",
       {101, 1523, 9339, 1524, 1520, 2309, 1521, 102}},
      {"the inverted question mark is punctuation", "\u00bfque?", {101, 1094, 10861, 1029, 102}},
      {"emoji are unknown words", "\U0001F971 \U0001F9BE", {101, 100, 100, 102}},
      {"an emoji does not split a word", "ok\U0001F971ok", {101, 100, 102}},
      {"a word of 100 characters is cut into pieces", hundred, pieces},
      {"a word of 101 characters is unknown", hundred + "a", {101, 100, 102}},
      {"capitals and punctuation are handled first",
       "Hello, World!",
       {101, 7592, 1010, 2088, 999, 102}},
      {"apostrophes, dots and hyphens split",
       "NASA's U.S.A. e-mail",
       {101, 9274, 1005, 1055, 1057, 1012, 1055, 1012, 1037, 1012, 1041, 1011, 5653, 102}},
      {"special tokens stand round the text", "ids", {101, 8909, 2015, 102}},
      {"accents, digits and an emoji",
       "Caf\u00e9 d\u00e9j\u00e0 vu - 123 \U0001F600",
       {101, 7668, 2139, 3900, 24728, 1011, 13138, 100, 102}},
      {"ligatures are not folded", "\ufb01nance o\ufb03ce", {101, 1984, 7229, 3401, 100, 102}},
      {"ideographs are split", "\u65e5\u672c\u8a9e text", {101, 1864, 1876, 1950, 3793, 102}},
      {"hangul is decomposed",
       "\ud55c\uad6d\uc5b4",
       {101, 1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008, 102}},
      {"all kinds of spaces split", "a\u00a0b\u2003c\u3000d", {101, 1037, 1038, 1039, 1040, 102}},
      {"format characters are removed", "a\u200db\u200bc\ufeffd", {101, 5925, 2094, 102}},
      {"dotted capital i loses its dot", "\u0130stanbul I\u0131", {101, 9960, 1045, 11722, 102}},
      {"final sigma is not special",
       "\u039f\u0394\u039f\u03a3",
       {101, 1169, 29722, 29730, 29733, 102}},
      {"controls are removed, a tab splits",
       "a\x01"
       "b\x7f"
       "c\td",
       {101, 5925, 1040, 102}},
      {"U+FFFD is removed", "a\ufffdb", {101, 11113, 102}},
      {"each punctuation mark is a token",
       "!!!???...",
       {101, 999, 999, 999, 1029, 1029, 1029, 1012, 1012, 1012, 102}},
  };
  for (const auto& c : cases) EXPECT_EQ(ids(c.text), c.ids) << c.fault;
}

// Values: tokenizers 0.22.2 for Python, enable_truncation("longest_first").
TEST_F(TokenizerModelTest, Pairs) {
  const auto pair = tokenizer().encode_pair("where is the cat?", "the cat is here");
  EXPECT_EQ(pair->ids, (Ids{101, 2073, 2003, 1996, 4937, 1029, 102, 1996, 4937, 2003, 2182, 102}));
  EXPECT_EQ(pair->token_types, (Ids{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(
      tokenizer()
          .encode_pair("where is the cat? it ran far away", "the cat is here", {.max_tokens = 9})
          ->ids,
      (Ids{101, 2073, 2003, 1996, 102, 1996, 4937, 2003, 102}));
  EXPECT_EQ(tokenizer()
                .encode_pair("where is the cat", "the cat is here today again", {.max_tokens = 8})
                ->ids,
            (Ids{101, 2073, 2003, 102, 1996, 4937, 2003, 102}));
  EXPECT_EQ(tokenizer().encode("where is the cat", {.max_tokens = 5, .truncate_left = true})->ids,
            (Ids{101, 2003, 1996, 4937, 102}));
}

// Concurrent calls that cut to different lengths neither fail nor mix.
TEST_F(TokenizerModelTest, ThreadsShareOneTokenizer) {
  const auto texts = golden_texts();
  const auto encode = [&](size_t call) {
    const auto encoded = tokenizer().encode(texts[call % texts.size()].text,
                                            {.max_tokens = 3 + static_cast<int64_t>(call % 40)});
    return encoded.ok() ? encoded->ids : Ids{};
  };
  constexpr size_t kCalls = 500;
  std::vector<Ids> alone;
  for (size_t call = 0; call < kCalls; ++call) alone.push_back(encode(call));
  std::array<int, 8> wrong{};
  {
    std::vector<std::jthread> threads;
    for (size_t thread = 0; thread < wrong.size(); ++thread) {
      threads.emplace_back([&, thread] {
        for (size_t i = 0; i < kCalls; ++i) {
          const size_t call = (i * 7 + thread * 61) % kCalls;
          wrong[thread] += encode(call) != alone[call];
        }
      });
    }
  }
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace capra
