// The folder of all-MiniLM-L6-v2 as its files declare it (values read off the files by eye).
#include <gtest/gtest.h>

#include "capra/io/checkpoint.h"
#include "capra/io/hf_config.h"
#include "tests/io/model_folder.h"

namespace capra {
namespace {

TEST(ModelFolder, SentenceConfig) {
  const std::string folder = test_model_folder();
  const auto config = read_sentence_config(folder);
  ASSERT_TRUE(config.ok()) << to_text(config.error());
  EXPECT_TRUE(config->declared);
  EXPECT_EQ(config->pooling, std::vector<std::string>{"mean"});
  EXPECT_EQ(config->pooled_size, 384);
  // 2_Normalize is declared, and its folder is absent.
  ASSERT_EQ(config->head.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<NormalizeModule>(config->head[0]));
  EXPECT_FALSE(std::filesystem::exists(folder + "/2_Normalize"));
  EXPECT_EQ(config->sentence_limit, 256);
  EXPECT_EQ(config->tokenizer_limit, 512);
  EXPECT_EQ(token_limit(*config, 512).tokens, 256);
  EXPECT_FALSE(config->lower_case);
  EXPECT_FALSE(config->truncate_left);
  EXPECT_TRUE(config->prompts.empty());
  EXPECT_TRUE(config->remarks.empty());
  EXPECT_EQ(*ModelConfig::open_folder(folder)->number("layer_norm_eps"), 1e-12);
}

TEST(ModelFolder, Weights) {
  const auto checkpoint = Checkpoint::open_folder(test_model_folder());
  ASSERT_TRUE(checkpoint.ok()) << to_text(checkpoint.error());
  EXPECT_EQ(checkpoint->names().size(), 104u);
  EXPECT_EQ(checkpoint->file_bytes(), 90868376u);
  const auto* ids = checkpoint->find("embeddings.position_ids");
  ASSERT_NE(ids, nullptr);
  EXPECT_EQ(ids->dtype, DType::I64);
  EXPECT_EQ(ids->sizes, (std::vector<int64_t>{1, 512}));
  const auto positions = checkpoint->array("embeddings.position_ids");
  ASSERT_TRUE(positions.ok());
  EXPECT_EQ(positions->as<int64_t>()[511], 511);
  const auto words = checkpoint->array("embeddings.word_embeddings.weight");
  ASSERT_TRUE(words.ok());
  EXPECT_EQ(words->sizes(), (std::vector<int64_t>{30522, 384}));
}

}  // namespace
}  // namespace capra
