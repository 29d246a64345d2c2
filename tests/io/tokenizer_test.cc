// The tokenizer bridge on small tokenizers: limits, pairs, repairs, changes from other files,
// refusals.
#include "capra/io/tokenizer.h"

#include <gtest/gtest.h>

#include "tests/base/temp_folder.h"
#include "tests/io/small_tokenizers.h"

namespace capra {
namespace {

using Ids = std::vector<int32_t>;

class TokenizerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Tokenizer::built()) GTEST_SKIP() << "built without the tokenizers crate";
  }
  static Tokenizer load(const std::string& json, const TokenizerChanges& changes = {}) {
    auto tokenizer = Tokenizer::parse(json, "tokenizer.json", changes);
    if (!tokenizer.ok()) throw Error(tokenizer.error());
    return *std::move(tokenizer);
  }
  static std::string code_of(const std::string& json) {
    const auto tokenizer = Tokenizer::parse(json, "tokenizer.json");
    return tokenizer.ok() ? "ok" : tokenizer.error().code;
  }
};

TEST_F(TokenizerTest, SpecialTokensAreAddedAndTheFilesPaddingAndTruncationAreOff) {
  const Tokenizer t = load(kWordPiece);
  EXPECT_EQ(t.encode("a b c d e")->ids, (Ids{2, 4, 5, 6, 7, 8, 3}));
  EXPECT_EQ(t.encode("")->ids, (Ids{2, 3}));
  EXPECT_EQ(t.encode("a b", {.special_tokens = false})->ids, (Ids{4, 5}));
  EXPECT_EQ(t.description().find("declared_truncation")->find("max_length")->as_i64(), 4);
  EXPECT_TRUE(t.description().find("declared_padding")->is_object());
  EXPECT_EQ(*t.description().find("model")->as_string(), "WordPiece");
}

TEST_F(TokenizerTest, ACutKeepsTheClosingSpecialTokenAndIsCounted) {
  const Tokenizer t = load(kWordPiece);
  for (int limit = 3; limit <= 8; ++limit) {
    const auto encoded = t.encode("a b c d e", {.max_tokens = limit});
    ASSERT_TRUE(encoded.ok()) << to_text(encoded.error());
    Ids expected = {2, 4, 5, 6, 7, 8};
    expected.resize(static_cast<size_t>(std::min(limit, 7) - 1));
    expected.push_back(3);
    EXPECT_EQ(encoded->ids, expected);
    EXPECT_EQ(encoded->dropped, std::max(0, 7 - limit));
  }
  EXPECT_EQ(t.encode("a b c d e", {.max_tokens = 4, .truncate_left = true})->ids,
            (Ids{2, 7, 8, 3}));
  EXPECT_EQ(t.encode("a b c", {.special_tokens = false, .max_tokens = 2})->ids, (Ids{4, 5}));
}

TEST_F(TokenizerTest, ACutKeepsSeveralClosingTokens) {
  const Tokenizer t = load(kUnigram);
  EXPECT_EQ(t.special_tokens(), 3);
  EXPECT_EQ(t.encode("a a a")->ids, (Ids{0, 4, 4, 4, 1, 0}));
  EXPECT_EQ(t.encode("a a a", {.max_tokens = 5})->ids, (Ids{0, 4, 4, 1, 0}));
  EXPECT_EQ(t.encode("a a a", {.max_tokens = 5})->dropped, 1);
}

TEST_F(TokenizerTest, RobertaProcessorIsCutTheSameWay) {
  const Tokenizer t = load(kByteLevel);
  EXPECT_EQ(t.encode("ab a a")->ids, (Ids{0, 5, 6, 6, 1}));
  EXPECT_EQ(t.encode("ab a a", {.max_tokens = 4})->ids, (Ids{0, 5, 6, 1}));
  EXPECT_EQ(t.encode("\xc3\xa9")->ids, (Ids{0, 7, 8, 1}));
}

TEST_F(TokenizerTest, ALimitThatLeavesNoRoomIsRefused) {
  const Tokenizer t = load(kWordPiece);
  const auto encoded = t.encode("a b", {.max_tokens = 2});
  ASSERT_FALSE(encoded.ok());
  EXPECT_EQ(encoded.error().code, "token-limit-too-small");
  EXPECT_EQ(t.encode("", {.max_tokens = 2})->ids, (Ids{2, 3}));
}

TEST_F(TokenizerTest, OverflowIsRefusedOnRequestAndNamesBothNumbersAndTheOption) {
  const Tokenizer t = load(kWordPiece);
  const auto encoded = t.encode("a b c d e", {.max_tokens = 4, .fail_on_overflow = true});
  ASSERT_FALSE(encoded.ok());
  EXPECT_EQ(encoded.error().code, "too-many-tokens");
  EXPECT_EQ(encoded.error().message, "the text has 7 tokens, the limit is 4");
  EXPECT_NE(encoded.error().help.find("--max-length"), std::string::npos);
  EXPECT_TRUE(t.encode("a b c d e", {.max_tokens = 7, .fail_on_overflow = true}).ok());
}

// The lengths are those of tokenizers 0.22.2 with enable_truncation(max_length, strategy
// "longest_first").
TEST_F(TokenizerTest, PairsHaveTypesAndAreCutLongestFirst) {
  const Tokenizer t = load(kWordPiece);
  const auto pair = t.encode_pair("a b c", "d e");
  EXPECT_EQ(pair->ids, (Ids{2, 4, 5, 6, 3, 7, 8, 3}));
  EXPECT_EQ(pair->token_types, (Ids{0, 0, 0, 0, 0, 1, 1, 1}));
  const auto cut = t.encode_pair("a b c d e", "a", {.max_tokens = 6});
  EXPECT_EQ(cut->ids, (Ids{2, 4, 5, 3, 4, 3}));
  EXPECT_EQ(cut->dropped, 3);
  const auto both = t.encode_pair("a b c d e", "e d c b a", {.max_tokens = 8});
  EXPECT_EQ(both->ids, (Ids{2, 4, 5, 3, 8, 7, 6, 3}));
  EXPECT_EQ(t.encode_pair("", "")->ids, (Ids{2, 3, 3}));
  EXPECT_EQ(t.special_tokens(true), 3);
}

TEST_F(TokenizerTest, WordsBeyondTheModelsLengthAreUnknown) {
  const Tokenizer t = load(kWordPiece);
  EXPECT_EQ(t.encode("aaaaaaaaaa")->ids, (Ids{2, 4, 9, 9, 9, 9, 9, 9, 9, 9, 9, 3}));
  EXPECT_EQ(t.encode("aaaaaaaaaaa")->ids, (Ids{2, 1, 3}));
}

TEST_F(TokenizerTest, InvalidUtf8IsReplacedAndCountedOrRefused) {
  const Tokenizer t = load(kByteLevel);
  const auto encoded = t.encode(
      "a\xff"
      "a\xc3");
  ASSERT_TRUE(encoded.ok());
  EXPECT_EQ(encoded->replaced, 2);
  EXPECT_EQ(encoded->ids, t.encode("a\xef\xbf\xbd"
                                   "a\xef\xbf\xbd")
                              ->ids);
  const auto strict = t.encode("a\xff", {.strict_utf8 = true});
  ASSERT_FALSE(strict.ok());
  EXPECT_EQ(strict.error().code, "utf8-invalid");
  EXPECT_NE(strict.error().message.find("byte 1"), std::string::npos);
  EXPECT_EQ(t.encode_pair("\xff", "\xff\xff")->replaced, 3);
}

TEST_F(TokenizerTest, NfkcFoldsLigatures) {
  const Tokenizer t = load(kUnigram);
  EXPECT_EQ(t.encode("\xef\xac\x81")->ids, (Ids{0, 3, 6, 1, 0}));
  EXPECT_EQ(t.encode("fi")->ids, (Ids{0, 3, 6, 1, 0}));
}

TEST_F(TokenizerTest, TokensAndIdsAreLookedUp) {
  const Tokenizer t = load(kWordPiece);
  EXPECT_EQ(t.token_id("[CLS]"), 2);
  EXPECT_EQ(t.token_id("cafe"), 12);
  EXPECT_EQ(t.token_id("none"), std::nullopt);
  EXPECT_EQ(t.token(9), "##a");
  EXPECT_EQ(t.token(17), std::nullopt);
  EXPECT_EQ(t.token(-1), std::nullopt);
  EXPECT_EQ(t.vocabulary_size(), 17);
  EXPECT_EQ(t.id_bound(), 17);
  EXPECT_EQ(load(replaced(kWordPiece, "\"日本\":16", "\"日本\":40")).id_bound(), 41);
}

// transformers' BertTokenizer: what tokenizer_config.json says wins over tokenizer.json.
TEST_F(TokenizerTest, TokenizerConfigChangesTheNormalizer) {
  const struct {
    const char* config;
    int32_t id;  // of "Café"
  } cases[] = {
      {R"({})", 12},
      {R"({"do_lower_case":true,"strip_accents":null})", 12},
      {R"({"strip_accents":false})", 13},
      {R"({"do_lower_case":false})", 14},
      {R"({"do_lower_case":false,"strip_accents":null})", 14},
      {R"({"do_lower_case":false,"strip_accents":true})", 11},
  };
  for (const auto& c : cases) {
    TempFolder folder;
    folder.write("tokenizer.json", kWordPiece);
    folder.write("tokenizer_config.json", c.config);
    const auto t = Tokenizer::open_folder(folder.path());
    ASSERT_TRUE(t.ok()) << to_text(t.error());
    EXPECT_EQ(t->encode("Caf\xc3\xa9")->ids, (Ids{2, c.id, 3})) << c.config;
    EXPECT_EQ(t->description().find("normalizer_changed")->as_bool(), c.id != 12) << c.config;
  }
  TempFolder folder;
  folder.write("tokenizer.json", kWordPiece);
  folder.write("tokenizer_config.json", R"({"tokenize_chinese_chars":false})");
  EXPECT_EQ(Tokenizer::open_folder(folder.path())->encode("日本")->ids, (Ids{2, 16, 3}));
  EXPECT_EQ(load(kWordPiece).encode("日本")->ids, (Ids{2, 15, 1, 3}));
}

TEST_F(TokenizerTest, LoweringFirstActsBeforeTheNormalizer) {
  EXPECT_EQ(load(kByteLevel, {.lowercase_first = true}).encode("AB")->ids, (Ids{0, 5, 1}));
  const Tokenizer cased = load(replaced(kWordPiece, "\"lowercase\":true", "\"lowercase\":false"),
                               {.lowercase_first = true});
  EXPECT_EQ(cased.encode("A [CLS]")->ids, (Ids{2, 4, 2, 3}));
}

TEST_F(TokenizerTest, BadFilesAreRefusedByName) {
  EXPECT_EQ(code_of(""), "tokenizer-invalid");
  EXPECT_EQ(code_of("{}"), "tokenizer-invalid");
  EXPECT_EQ(code_of("[1,2"), "tokenizer-invalid");
  EXPECT_EQ(code_of("\xff\xfe"), "tokenizer-invalid");
  EXPECT_EQ(code_of(replaced(kWordPiece, "\"WordPiece\"", "\"WordHeap\"")), "tokenizer-invalid");
  EXPECT_EQ(code_of(replaced(kWordPiece, "BertPreTokenizer", "NoPreTokenizer")),
            "tokenizer-invalid");
  EXPECT_EQ(code_of(replaced(kWordPiece, "\"version\":\"1.0\"", "\"version\":\"9.0\"")),
            "tokenizer-invalid");
  EXPECT_EQ(code_of(replaced(kWordPiece, "\"[PAD]\":0", "\"[PAD]\":-1")), "tokenizer-invalid");
  EXPECT_EQ(code_of(replaced(kUnigram, "\"unk_id\":2", "\"unk_id\":99")), "tokenizer-invalid");
  EXPECT_EQ(code_of(replaced(kByteLevel, "[\"a\",\"b\"]", "[\"a\",\"z\"]")), "tokenizer-invalid");
  EXPECT_EQ(code_of(std::string(100'000, '[')), "tokenizer-invalid");
  // Every prefix of a good file is a bad one.
  for (size_t size = 0; size < kWordPiece.size() - 1; size += 37) {
    EXPECT_EQ(code_of(kWordPiece.substr(0, size)), "tokenizer-invalid") << size;
  }
}

TEST_F(TokenizerTest, WordPieceWithoutPreTokenizerIsRefused) {
  EXPECT_EQ(code_of(replaced(kWordPiece, R"({"type":"BertPreTokenizer"})", "null")),
            "tokenizer-no-pre-tokenizer");
}

TEST_F(TokenizerTest, DropoutIsRefused) {
  EXPECT_EQ(code_of(replaced(kByteLevel, "\"dropout\":null", "\"dropout\":0.1")),
            "tokenizer-random");
  EXPECT_EQ(code_of(replaced(kByteLevel, "\"dropout\":null", "\"dropout\":0.0")), "ok");
}

TEST_F(TokenizerTest, AMissingUnknownTokenFailsTheTextNotTheProcess) {
  const Tokenizer t =
      load(replaced(kWordPiece, R"("unk_token":"[UNK]")", R"("unk_token":"[NIL]")"));
  EXPECT_TRUE(t.encode("a b").ok());
  const auto encoded = t.encode("zzz");
  ASSERT_FALSE(encoded.ok());
  EXPECT_EQ(encoded.error().code, "tokenizer-failed");
}

TEST_F(TokenizerTest, FoldersAreChecked) {
  TempFolder folder;
  EXPECT_EQ(Tokenizer::open_folder(folder.path()).error().code, "tokenizer-missing");
  folder.write("tokenizer.json", kWordPiece);
  folder.write("tokenizer_config.json", R"({"do_lower_case":"yes"})");
  EXPECT_EQ(Tokenizer::open_folder(folder.path()).error().code, "config-wrong-type");
  folder.write("tokenizer_config.json", "{");
  EXPECT_EQ(Tokenizer::open_folder(folder.path()).error().code, "json-syntax");
}

}  // namespace
}  // namespace capra
