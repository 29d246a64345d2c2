// JSON: strict reading with places in the errors, and writing that reads back to the same values.
#include "capra/io/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace capra {
namespace {

std::string code_of(std::string_view text) {
  const auto json = Json::parse(text, "f.json");
  return json.ok() ? "ok" : json.error().code;
}

TEST(Json, ReadsEveryKind) {
  auto json = Json::parse(
      R"({"n":null,"t":true,"i":-7,"u":18446744073709551615,"d":1.5e3,"s":"a\u00e4\ud83d\ude00","a":[1,[]],"o":{}})");
  ASSERT_TRUE(json.ok()) << to_text(json.error());
  EXPECT_TRUE(json->find("n")->is_null());
  EXPECT_EQ(json->find("t")->as_bool(), true);
  EXPECT_EQ(json->find("i")->as_i64(), -7);
  EXPECT_EQ(json->find("i")->as_u64(), std::nullopt);
  EXPECT_EQ(json->find("i")->as_f64(), -7.0);
  EXPECT_EQ(json->find("u")->as_u64(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(json->find("u")->as_i64(), std::nullopt);
  EXPECT_EQ(json->find("d")->as_f64(), 1500.0);
  EXPECT_EQ(json->find("d")->as_i64(), std::nullopt);
  EXPECT_EQ(*json->find("s")->as_string(), "a\xc3\xa4\xf0\x9f\x98\x80");
  EXPECT_EQ(json->find("a")->items().size(), 2u);
  EXPECT_TRUE(json->find("o")->is_object());
  EXPECT_EQ(json->find("missing"), nullptr);
  EXPECT_EQ(json->members().size(), 8u);
}

// RFC 8259: what is not JSON.
TEST(Json, RefusesWhatIsNotJson) {
  for (const char* text : {"",      "{",        "[1,]",      "{\"a\":1,}",  "{a:1}",        "01",
                           "+1",    "1.",       ".5",        "NaN",         "Infinity",     "'a'",
                           "[1 2]", "\"\x01\"", "\"\\x41\"", "\"\\ud800\"", "\"\\udc00x\"", "tru",
                           "1 2",   "// c\n1",  "1e999",     "nul"}) {
    EXPECT_EQ(code_of(text), "json-syntax") << text;
  }
  EXPECT_EQ(code_of("\"\xff\""), "json-syntax");
  EXPECT_EQ(code_of("\"\xc0\x80\""), "json-syntax");
}

TEST(Json, ErrorsSayWhere) {
  const auto json = Json::parse("{\"a\": 1,\n \"b\": x}", "f.json");
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.error().at, "f.json: line 2, column 7 (byte 15)");
  EXPECT_NE(json.error().message.find("invalid literal"), std::string::npos)
      << json.error().message;
}

TEST(Json, RefusesDuplicateKeysAtEveryLevelAndSize) {
  EXPECT_EQ(code_of(R"({"a":1,"a":1})"), "json-duplicate-key");
  EXPECT_EQ(code_of(R"([{"b":{"a":1,"x":2,"\u0061":3}}])"), "json-duplicate-key");
  EXPECT_EQ(code_of(R"({"a":{"a":1}})"), "ok");
  for (const int size : {14, 15, 16, 17, 40}) {
    std::string text = "{";
    for (int i = 0; i < size; ++i) text += "\"k" + std::to_string(i) + "\":1,";
    EXPECT_EQ(code_of(text + "\"last\":1}"), "ok") << size;
    EXPECT_EQ(code_of(text + "\"k7\":1}"), "json-duplicate-key") << size;
  }
}

TEST(Json, RefusesDepthBeyondTheLimit) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(code_of(nested(Json::kMaxDepth)), "ok");
  EXPECT_EQ(code_of(nested(Json::kMaxDepth + 1)), "json-too-deep");
  EXPECT_EQ(code_of(std::string(1'000'000, '[')), "json-too-deep");
  EXPECT_EQ(code_of(std::string(1'000'000, '{')), "json-syntax");
}

TEST(Json, FindsMembersOfLargeObjects) {
  Json built = Json::object();
  for (int i = 0; i < 1000; ++i) built.set("key" + std::to_string(i * 7919 % 1000), i);
  built.set("key500", "replaced");
  EXPECT_EQ(built.members().size(), 1000u);
  auto read = Json::parse(built.text());
  ASSERT_TRUE(read.ok());
  for (int i = 0; i < 1000; ++i) {
    const std::string key = "key" + std::to_string(i);
    ASSERT_NE(built.find(key), nullptr);
    ASSERT_NE(read->find(key), nullptr);
    EXPECT_EQ(built.find(key)->text(), read->find(key)->text());
  }
  EXPECT_EQ(*read->find("key500")->as_string(), "replaced");
  EXPECT_EQ(read->find("key1000"), nullptr);
  EXPECT_EQ(read->find(""), nullptr);
}

TEST(Json, WritesTheShortestNumbers) {
  EXPECT_EQ(Json(0.1).text(), "0.1");
  EXPECT_EQ(Json(0.1f).text(), "0.1");
  EXPECT_EQ(Json(1e-12).text(), "1e-12");
  EXPECT_EQ(Json(0.70710678118654752).text(), "0.7071067811865476");
  EXPECT_EQ(Json(3).text(), "3");
  EXPECT_EQ(Json(-0.0).text(), "-0.0");
  EXPECT_TRUE(std::signbit(*Json::parse("-0.0")->as_f64()));
  EXPECT_EQ(Json(std::numeric_limits<uint64_t>::max()).text(), "18446744073709551615");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).text(), "\"inf\"");
  EXPECT_EQ(Json(std::nan("")).text(), "\"nan\"");
  std::string out;
  append_json_number(out, 0.1f);
  EXPECT_EQ(out, "0.1");
}

TEST(Json, WritesStringsThatReadBack) {
  std::string all;
  for (int c = 0; c < 0x80; ++c) all += static_cast<char>(c);
  all += "\xc3\xa4\xf0\x9f\x98\x80";
  std::string text;
  append_json_string(text, all);
  const auto back = Json::parse(text);
  ASSERT_TRUE(back.ok()) << to_text(back.error());
  EXPECT_EQ(*back->as_string(), all);
  text.clear();
  append_json_string(text, "a\xff\"");
  EXPECT_EQ(text, "\"a\xef\xbf\xbd\\\"\"");
}

TEST(Json, IndentsOnRequest) {
  const auto json = Json::parse(R"({"a":[1,2],"b":{},"c":[]})");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->text(), R"({"a":[1,2],"b":{},"c":[]})");
  EXPECT_EQ(json->text(2), "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {},\n  \"c\": []\n}");
}

TEST(Json, KeepsTheOrderOfMembers) {
  const std::string text = R"({"z":1,"a":2,"m":3})";
  EXPECT_EQ(Json::parse(text)->text(), text);
}

TEST(Json, MissingFileIsNamed) {
  const auto json = read_json_file("no/such/file.json");
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.error().code, "file-not-found");
}

}  // namespace
}  // namespace capra
