// The files of a model folder: what each declares, old and new spellings, defaults, and refusals.
#include "capra/io/hf_config.h"

#include <gtest/gtest.h>

#include "tests/base/temp_folder.h"

namespace capra {
namespace {

using Names = std::vector<std::string>;

JsonFile file_of(std::string_view text) { return *JsonFile::parse(text, "f.json"); }

template <class T>
std::string code_of(const Result<T>& result) {
  return result.ok() ? "ok" : result.error().code;
}

TEST(JsonFile, GettersCheckPresenceTypeAndRange) {
  const JsonFile file =
      file_of(R"({"s":"x","i":7,"d":0.5,"b":true,"n":null,"u":18446744073709551615})");
  EXPECT_EQ(*file.string("s"), "x");
  EXPECT_EQ(*file.integer("i", 0, 7), 7);
  EXPECT_EQ(*file.number("d"), 0.5);
  EXPECT_EQ(*file.number("i"), 7.0);
  EXPECT_EQ(*file.boolean("b"), true);
  EXPECT_EQ(*file.integer_or("n", 3), 3);
  EXPECT_EQ(*file.string_or("absent", "y"), "y");
  EXPECT_FALSE(file.has("n"));
  EXPECT_EQ(code_of(file.string("n")), "config-missing-key");
  EXPECT_EQ(code_of(file.integer("absent")), "config-missing-key");
  EXPECT_EQ(code_of(file.string("i")), "config-wrong-type");
  EXPECT_EQ(code_of(file.integer("d")), "config-wrong-type");
  EXPECT_EQ(code_of(file.integer("s")), "config-wrong-type");
  EXPECT_EQ(code_of(file.boolean("i")), "config-wrong-type");
  EXPECT_EQ(code_of(file.number("b")), "config-wrong-type");
  EXPECT_EQ(code_of(file.integer_or("s", 1)), "config-wrong-type");
  EXPECT_EQ(code_of(file.integer("i", 0, 6)), "config-out-of-range");
  EXPECT_EQ(code_of(file.integer("i", 8)), "config-out-of-range");
  EXPECT_EQ(code_of(file.integer("u")), "config-out-of-range");
  EXPECT_EQ(code_of(file.number("d", 1.0)), "config-out-of-range");
  EXPECT_EQ(code_of(JsonFile::parse("[]", "f")), "config-not-object");
}

TEST(JsonFile, ErrorsSayFileKeyFoundAndNeeded) {
  const auto error = file_of(R"({"hidden_size":"384"})").integer("hidden_size").error();
  EXPECT_EQ(error.at, "f.json: hidden_size");
  EXPECT_EQ(error.message, "hidden_size is a string, needed an integer");
  const auto range = file_of(R"({"n":9})").integer("n", 0, 4).error();
  EXPECT_EQ(range.message, "n is 9, needed an integer from 0 to 4");
}

TEST(ModelConfig, FolderErrors) {
  EXPECT_EQ(code_of(ModelConfig::open_folder("no/such/folder")), "file-not-found");
  TempFolder folder;
  EXPECT_EQ(code_of(ModelConfig::open_folder(folder.path())), "config-missing");
  folder.write("config.json", "{\"a\":");
  EXPECT_EQ(code_of(ModelConfig::open_folder(folder.path())), "json-syntax");
  folder.write("config.json", "7");
  EXPECT_EQ(code_of(ModelConfig::open_folder(folder.path())), "config-not-object");
  folder.write("config.json", R"({"model_type":"bert"})");
  const auto config = ModelConfig::open_folder(folder.path());
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(*config->string("model_type"), "bert");
  EXPECT_EQ(config->path(), folder.path() + "/config.json");
}

// ---- pooling -------------------------------------------------------------------------------

Names pooling_of(std::string_view text) {
  SentenceConfig config;
  const Status status = parse_pooling(file_of(text), config);
  EXPECT_TRUE(status.ok()) << to_text(status.error());
  return config.pooling;
}

std::string pooling_code(std::string_view text) {
  SentenceConfig config;
  return code_of(parse_pooling(file_of(text), config));
}

// Order and words: sentence-transformers 6.2.0, sentence_transformer/modules/pooling.py.
TEST(Pooling, OldFlagsInTheOrderOfConcatenation) {
  EXPECT_EQ(
      pooling_of(
          R"({"word_embedding_dimension":8,"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":false})"),
      (Names{"cls"}));
  EXPECT_EQ(
      pooling_of(
          R"({"word_embedding_dimension":8,"pooling_mode_lasttoken":true,"pooling_mode_weightedmean_tokens":true,
      "pooling_mode_mean_sqrt_len_tokens":true,"pooling_mode_mean_tokens":true,"pooling_mode_max_tokens":true,
      "pooling_mode_cls_token":true})"),
      (Names{"cls", "max", "mean", "mean_sqrt_len", "weighted_mean", "last_token"}));
}

TEST(Pooling, NewWordsInTheOrderGiven) {
  EXPECT_EQ(pooling_of(R"({"embedding_dimension":8,"pooling_mode":"lasttoken"})"),
            (Names{"last_token"}));
  EXPECT_EQ(
      pooling_of(
          R"({"embedding_dimension":8,"pooling_mode":["mean","cls","mean_sqrt_len_tokens","weightedmean","max"]})"),
      (Names{"mean", "cls", "mean_sqrt_len", "weighted_mean", "max"}));
  // With both spellings the flags are dropped.
  EXPECT_EQ(
      pooling_of(
          R"({"word_embedding_dimension":8,"pooling_mode":"max","pooling_mode_cls_token":true})"),
      (Names{"max"}));
}

TEST(Pooling, NoModeMeansMeanAndIsRemarked) {
  SentenceConfig config;
  ASSERT_TRUE(
      parse_pooling(file_of(R"({"word_embedding_dimension":8,"pooling_mode_cls_token":false})"),
                    config)
          .ok());
  EXPECT_EQ(config.pooling, (Names{"mean"}));
  EXPECT_EQ(config.remarks.size(), 1u);
}

TEST(Pooling, BadFilesAreRefused) {
  EXPECT_EQ(pooling_code(R"({"pooling_mode_cls_token":true})"), "config-missing-key");
  EXPECT_EQ(pooling_code(R"({"word_embedding_dimension":0})"), "config-out-of-range");
  EXPECT_EQ(pooling_code(R"({"word_embedding_dimension":"8"})"), "config-wrong-type");
  EXPECT_EQ(pooling_code(R"({"word_embedding_dimension":8,"pooling_mode_cls_token":1})"),
            "config-wrong-type");
  EXPECT_EQ(pooling_code(R"({"word_embedding_dimension":8,"pooling_mode":"median"})"),
            "pooling-unknown");
  EXPECT_EQ(pooling_code(R"({"word_embedding_dimension":8,"pooling_mode":[]})"),
            "config-wrong-type");
  EXPECT_EQ(pooling_code(R"({"word_embedding_dimension":8,"pooling_mode":[1]})"),
            "config-wrong-type");
  EXPECT_EQ(pooling_code(R"({"word_embedding_dimension":8,"pooling_mode_median_tokens":true})"),
            "pooling-unknown");
  EXPECT_EQ(pooling_code(R"({"word_embedding_dimension":8,"pooling_mode_median_tokens":false})"),
            "ok");
  EXPECT_EQ(pooling_code(R"({"word_embedding_dimension":8,"include_prompt":"no"})"),
            "config-wrong-type");
}

// ---- dense ---------------------------------------------------------------------------------

TEST(Dense, ActivationsAreReadByTheirTorchNames) {
  const struct {
    const char* name;
    DenseActivation activation;
  } cases[] = {
      {"torch.nn.modules.activation.Tanh", DenseActivation::Tanh},
      {"torch.nn.modules.linear.Identity", DenseActivation::Identity},
      {"torch.nn.modules.activation.ReLU", DenseActivation::Relu},
      {"torch.nn.modules.activation.GELU", DenseActivation::GeluExact},
      {"torch.nn.modules.activation.SiLU", DenseActivation::Silu},
      {"torch.nn.Sigmoid", DenseActivation::Sigmoid},
  };
  for (const auto& c : cases) {
    const auto dense = parse_dense(
        file_of(std::string(
                    R"({"in_features":4,"out_features":2,"bias":false,"activation_function":")") +
                c.name + "\"}"),
        "d");
    ASSERT_TRUE(dense.ok()) << to_text(dense.error());
    EXPECT_EQ(dense->activation, c.activation) << c.name;
    EXPECT_FALSE(dense->bias);
    EXPECT_EQ(dense->in, 4);
    EXPECT_EQ(dense->out, 2);
    EXPECT_EQ(dense->folder, "d");
  }
}

TEST(Dense, DefaultsAreThoseOfSentenceTransformers) {
  const auto dense = parse_dense(file_of(R"({"in_features":4,"out_features":2})"), "d");
  ASSERT_TRUE(dense.ok());
  EXPECT_TRUE(dense->bias);
  EXPECT_EQ(dense->activation, DenseActivation::Tanh);
}

TEST(Dense, BadFilesAreRefused) {
  const auto code = [](std::string_view text) { return code_of(parse_dense(file_of(text), "d")); };
  EXPECT_EQ(code(R"({"out_features":2})"), "config-missing-key");
  EXPECT_EQ(code(R"({"in_features":-4,"out_features":2})"), "config-out-of-range");
  for (const char* name : {"torch.nn.modules.activation.Mish", "my.Tanh", "torch.tanh", "Tanh"}) {
    const auto dense = parse_dense(
        file_of(std::string(R"({"in_features":4,"out_features":2,"activation_function":")") + name +
                "\"}"),
        "d");
    ASSERT_EQ(code_of(dense), "dense-activation-unknown") << name;
    EXPECT_NE(dense.error().message.find(name), std::string::npos);
  }
  EXPECT_EQ(code(R"({"in_features":4,"out_features":4,"use_residual":true})"),
            "module-option-unsupported");
  EXPECT_EQ(code(R"({"in_features":4,"out_features":4,"module_input_name":"token_embeddings"})"),
            "module-option-unsupported");
}

// ---- modules -------------------------------------------------------------------------------

std::string module_text(int index, const char* path, const char* kind) {
  return "{\"idx\":" + std::to_string(index) + ",\"name\":\"" + std::to_string(index) +
         "\",\"path\":\"" + path + "\",\"type\":\"sentence_transformers.models." + kind + "\"}";
}

constexpr const char* kMeanPooling =
    R"({"word_embedding_dimension":8,"pooling_mode_mean_tokens":true})";

TEST(Modules, OrderPathsAndHeadAreTakenFromTheFile) {
  TempFolder folder;
  folder.write("modules.json", "[" + module_text(0, "", "Transformer") + "," +
                                   module_text(1, "1_Pooling", "Pooling") + "," +
                                   module_text(2, "2_Dense_1024", "Dense") + "," +
                                   module_text(3, "3_Dense", "Dense") + "," +
                                   module_text(4, "4_Normalize", "Normalize") + "]");
  folder.write(
      "1_Pooling/config.json",
      R"({"word_embedding_dimension":8,"pooling_mode_mean_tokens":true,"pooling_mode_cls_token":true})");
  folder.write(
      "2_Dense_1024/config.json",
      R"({"in_features":16,"out_features":32,"activation_function":"torch.nn.modules.linear.Identity"})");
  folder.write("3_Dense/config.json", R"({"in_features":32,"out_features":5,"bias":false})");
  const auto config = read_sentence_config(folder.path());
  ASSERT_TRUE(config.ok()) << to_text(config.error());
  EXPECT_TRUE(config->declared);
  EXPECT_EQ(config->transformer_folder, folder.path());
  EXPECT_EQ(config->pooling, (Names{"cls", "mean"}));
  ASSERT_EQ(config->head.size(), 3u);
  EXPECT_EQ(std::get<DenseModule>(config->head[0]).folder, folder.path() + "/2_Dense_1024");
  EXPECT_EQ(std::get<DenseModule>(config->head[1]).out, 5);
  EXPECT_TRUE(std::holds_alternative<NormalizeModule>(config->head[2]));
  EXPECT_EQ(sentence_dimension(*config, 8), 5);
}

TEST(Modules, NewTypeNamesAndASubfolderForTheTransformer) {
  TempFolder folder;
  folder.write(
      "modules.json",
      R"([{"idx":0,"name":"0","path":"0_Transformer","type":"sentence_transformers.base.modules.transformer.Transformer"},
                   {"idx":1,"name":"1","path":"1_Pooling","type":"sentence_transformers.sentence_transformer.modules.pooling.Pooling"}])");
  folder.write("1_Pooling/config.json",
               R"({"embedding_dimension":8,"pooling_mode":"cls","include_prompt":false})");
  folder.write("0_Transformer/sentence_bert_config.json",
               R"({"max_seq_length":99,"do_lower_case":true})");
  const auto config = read_sentence_config(folder.path());
  ASSERT_TRUE(config.ok()) << to_text(config.error());
  EXPECT_EQ(config->transformer_folder, folder.path() + "/0_Transformer");
  EXPECT_EQ(config->pooling, (Names{"cls"}));
  EXPECT_FALSE(config->include_prompt);
  EXPECT_EQ(config->sentence_limit, 99);
  EXPECT_TRUE(config->lower_case);
  EXPECT_TRUE(config->head.empty());
  EXPECT_EQ(sentence_dimension(*config, 8), 8);
}

TEST(Modules, APlainFolderIsMeanPooledWithoutNormalization) {
  TempFolder folder;
  const auto config = read_sentence_config(folder.path());
  ASSERT_TRUE(config.ok());
  EXPECT_FALSE(config->declared);
  EXPECT_EQ(config->pooling, (Names{"mean"}));
  EXPECT_TRUE(config->head.empty());
  EXPECT_EQ(config->remarks.size(), 1u);
  EXPECT_EQ(code_of(read_sentence_config("no/such/folder")), "file-not-found");
}

TEST(Modules, BadListsAreRefused) {
  const std::string t = module_text(0, "", "Transformer");
  const std::string p = module_text(1, "1_Pooling", "Pooling");
  const struct {
    std::string modules;
    const char* code;
  } cases[] = {
      {"[" + t + "," + p + "]", "ok"},
      {"[" + t + "," + p + "," + module_text(2, "", "Dropout") + "]", "ok"},
      {"{}", "modules-invalid"},
      {"[]", "modules-invalid"},
      {"[7]", "config-not-object"},
      {"[" + t + "," + p, "json-syntax"},
      {"[{\"type\":\"sentence_transformers.models.Transformer\"}]", "config-missing-key"},
      {"[{\"path\":\"\"}]", "config-missing-key"},
      {"[" + t + "]", "module-order"},
      {"[" + p + "]", "module-order"},
      {"[" + module_text(0, "1_Pooling", "Pooling") + "," + module_text(1, "", "Transformer") + "]",
       "module-order"},
      {"[" + t + "," + p + "," + module_text(2, "1_Pooling", "Pooling") + "]", "module-order"},
      {"[" + t + "," + p + "," + module_text(2, "", "Transformer") + "]", "module-order"},
      {"[" + t + "," + module_text(1, "", "Normalize") + "," +
           module_text(2, "1_Pooling", "Pooling") + "]",
       "module-order"},
      {"[" + p + "," + t + "]", "modules-invalid"},
      {"[" + t + "," + p + "," + module_text(2, "", "LSTM") + "]", "module-unknown"},
      {R"([{"idx":0,"path":"","type":"my_package.Transformer"}])", "module-unknown"},
      {"[" + t + "," + module_text(1, "../1_Pooling", "Pooling") + "]", "modules-invalid"},
      {"[" + t + "," + module_text(1, "/etc", "Pooling") + "]", "modules-invalid"},
      {"[" + t + "," + module_text(1, "a/../../b", "Pooling") + "]", "modules-invalid"},
      {"[" + t + "," + module_text(1, "absent", "Pooling") + "]", "file-not-found"},
      {"[" + t + "," + p + "," + module_text(2, "2_Dense", "Dense") + "]", "file-not-found"},
  };
  TempFolder folder;
  folder.write("1_Pooling/config.json", kMeanPooling);
  for (const auto& c : cases) {
    folder.write("modules.json", c.modules);
    EXPECT_EQ(code_of(read_sentence_config(folder.path())), c.code) << c.modules;
  }
}

TEST(Modules, DenseMustFitWhatComesBefore) {
  TempFolder folder;
  folder.write("modules.json", "[" + module_text(0, "", "Transformer") + "," +
                                   module_text(1, "1_Pooling", "Pooling") + "," +
                                   module_text(2, "2_Dense", "Dense") + "]");
  folder.write("1_Pooling/config.json", kMeanPooling);
  folder.write("2_Dense/config.json", R"({"in_features":9,"out_features":5})");
  EXPECT_EQ(code_of(read_sentence_config(folder.path())), "dense-shape");
}

TEST(Modules, NormalizeOfAnythingElseIsRefused) {
  TempFolder folder;
  folder.write("modules.json", "[" + module_text(0, "", "Transformer") + "," +
                                   module_text(1, "1_Pooling", "Pooling") + "," +
                                   module_text(2, "2_Normalize", "Normalize") + "]");
  folder.write("1_Pooling/config.json", kMeanPooling);
  folder.write("2_Normalize/config.json", R"({"module_input_name":"sentence_embedding"})");
  EXPECT_EQ(code_of(read_sentence_config(folder.path())), "ok");
  folder.write("2_Normalize/config.json", R"({"module_input_name":"token_embeddings"})");
  EXPECT_EQ(code_of(read_sentence_config(folder.path())), "module-option-unsupported");
}

// ---- limits --------------------------------------------------------------------------------

TEST(Limits, TheSmallestThatCounts) {
  const struct {
    const char* sentence;
    const char* tokenizer;
    int64_t positions;
    int64_t tokens;
    const char* source;
  } cases[] = {
      {R"({"max_seq_length":256})", R"({"model_max_length":512})", 512, 256,
       "sentence_bert_config.json"},
      {R"({"max_seq_length":256})", R"({"model_max_length":128})", 512, 256,
       "sentence_bert_config.json"},
      {R"({"max_seq_length":1024})", R"({"model_max_length":128})", 512, 512, "positions"},
      {R"({"max_seq_length":null})", R"({"model_max_length":128})", 512, 128,
       "tokenizer_config.json"},
      {nullptr, R"({"model_max_length":128})", 512, 128, "tokenizer_config.json"},
      {nullptr, R"({"model_max_length":1000000000000000019884624838656})", 512, 512, "positions"},
      {nullptr, R"({"model_max_length":1e30})", 512, 512, "positions"},
      {nullptr, R"({})", 512, 512, "positions"},
      {nullptr, nullptr, 77, 77, "positions"},
  };
  for (const auto& c : cases) {
    TempFolder folder;
    if (c.sentence != nullptr) folder.write("sentence_bert_config.json", c.sentence);
    if (c.tokenizer != nullptr) folder.write("tokenizer_config.json", c.tokenizer);
    const auto config = read_sentence_config(folder.path());
    ASSERT_TRUE(config.ok()) << to_text(config.error());
    const TokenLimit limit = token_limit(*config, c.positions);
    EXPECT_EQ(limit.tokens, c.tokens);
    EXPECT_EQ(limit.source, c.source);
  }
}

TEST(Limits, TheFileThatDecidesIsNamed) {
  TempFolder folder;
  folder.write("sentence_roberta_config.json", R"({"max_seq_length":30,"do_lower_case":true})");
  auto config = read_sentence_config(folder.path());
  ASSERT_TRUE(config.ok()) << to_text(config.error());
  EXPECT_TRUE(config->lower_case);
  EXPECT_EQ(token_limit(*config, 512).tokens, 30);
  EXPECT_EQ(token_limit(*config, 512).source, "sentence_roberta_config.json");
  EXPECT_EQ(token_limit(*config, 20).source, "positions");
  // The newer name goes first.
  folder.write("sentence_bert_config.json", R"({"max_seq_length":40})");
  config = read_sentence_config(folder.path());
  ASSERT_TRUE(config.ok()) << to_text(config.error());
  EXPECT_EQ(token_limit(*config, 512).tokens, 40);
  EXPECT_EQ(token_limit(*config, 512).source, "sentence_bert_config.json");
}

TEST(Limits, BadFilesAreRefused) {
  const auto code = [](const char* name, const char* text) {
    TempFolder folder;
    folder.write(name, text);
    return code_of(read_sentence_config(folder.path()));
  };
  EXPECT_EQ(code("sentence_bert_config.json", R"({"max_seq_length":0})"), "config-out-of-range");
  EXPECT_EQ(code("sentence_bert_config.json", R"({"max_seq_length":"256"})"), "config-wrong-type");
  EXPECT_EQ(code("sentence_bert_config.json", "{"), "json-syntax");
  EXPECT_EQ(code("sentence_bert_config.json", R"({"transformer_task":"fill-mask"})"),
            "module-option-unsupported");
  EXPECT_EQ(code("sentence_xlnet_config.json", R"({"max_seq_length":-1})"), "config-out-of-range");
  EXPECT_EQ(code("tokenizer_config.json", R"({"model_max_length":"big"})"), "config-wrong-type");
  EXPECT_EQ(code("tokenizer_config.json", R"({"model_max_length":-5})"), "config-out-of-range");
  EXPECT_EQ(code("tokenizer_config.json", R"({"truncation_side":"middle"})"),
            "config-out-of-range");
  EXPECT_EQ(code("tokenizer_config.json", R"({"truncation_side":"left"})"), "ok");
}

// ---- prompts -------------------------------------------------------------------------------

TEST(Prompts, AreReadWithTheirDefault) {
  SentenceConfig config;
  ASSERT_TRUE(
      parse_prompts(
          file_of(R"({"__version__":{},"prompts":{"query":"query: ","document":"","none":null},
      "default_prompt_name":"query","similarity_fn_name":"cosine"})"),
          config)
          .ok());
  EXPECT_EQ(config.prompts.at("query"), "query: ");
  EXPECT_EQ(config.prompts.at("none"), "");
  EXPECT_EQ(config.default_prompt, "query");
  EXPECT_EQ(config.similarity, "cosine");
}

TEST(Prompts, BadFilesAreRefused) {
  const auto code = [](std::string_view text) {
    SentenceConfig config;
    return code_of(parse_prompts(file_of(text), config));
  };
  EXPECT_EQ(code(R"({"prompts":null,"default_prompt_name":null})"), "ok");
  EXPECT_EQ(code(R"({"prompts":["query: "]})"), "config-wrong-type");
  EXPECT_EQ(code(R"({"prompts":{"query":1}})"), "config-wrong-type");
  EXPECT_EQ(code(R"({"prompts":{},"default_prompt_name":"query"})"), "config-out-of-range");
  EXPECT_EQ(code(R"({"model_type":"SparseEncoder"})"), "module-option-unsupported");
}

}  // namespace
}  // namespace capra
