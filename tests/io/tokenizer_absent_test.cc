// A build without the tokenizers crate: every way in says so. This program links the stand-in
// instead.
#include <gtest/gtest.h>

#include "capra/io/tokenizer.h"
#include "tests/base/temp_folder.h"
#include "tests/io/small_tokenizers.h"

namespace capra {
namespace {

TEST(TokenizerAbsent, OpeningSaysWhatToDo) {
  EXPECT_FALSE(Tokenizer::built());
  TempFolder folder;
  folder.write("tokenizer.json", kWordPiece);
  const auto refused = [](const Result<Tokenizer>& tokenizer) {
    ASSERT_FALSE(tokenizer.ok());
    EXPECT_EQ(tokenizer.error().code, "tokenizer-not-built");
    EXPECT_NE(tokenizer.error().help.find("token ids"), std::string::npos);
  };
  refused(Tokenizer::open_folder(folder.path()));
  refused(Tokenizer::open_folder("no/such"));
  refused(Tokenizer::parse(kWordPiece, "tokenizer.json"));
}

}  // namespace
}  // namespace capra
