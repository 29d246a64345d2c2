// Loading a folder and embedding with it, on a small model: what is honoured, what is refused, and
// that a text's vector is its own.
#include "models/embedding_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <thread>

#include "capra/ops/gelu.h"
#include "capra/ops/relu.h"
#include "capra/ops/silu.h"
#include "capra/passes/gelu_tanh.h"
#include "capra/passes/pipeline.h"
#include "capra/targets/cpu/target.h"
#include "models/embedding_parts.h"
#include "models/verify.h"
#include "tests/models/small_model.h"

namespace capra {
namespace {

using testing::SmallModel;

constexpr std::string_view kTexts[] = {"a b c", "",  "cafe d e a b",     "日本 a",
                                       "dd ee", "a", "b a b a b a b a b"};

EmbeddingModel load(const SmallModel& folder, const EmbeddingOptions& options = {}) {
  Result<EmbeddingModel> model = EmbeddingModel::load(folder.path(), options);
  if (!model.ok()) throw Error(model.error());
  return *std::move(model);
}

std::string load_error(const SmallModel& folder, const EmbeddingOptions& options = {}) {
  const Result<EmbeddingModel> model = EmbeddingModel::load(folder.path(), options);
  return model.ok() ? "loaded" : model.error().code;
}

std::vector<float> embed(const EmbeddingModel& model, std::span<const std::string_view> texts) {
  std::vector<float> vectors(texts.size() * static_cast<size_t>(model.dimension()));
  const Status status = model.embed(texts, vectors);
  EXPECT_TRUE(status.ok()) << to_text(status.error());
  return vectors;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

TEST(EmbeddingModel, ATextAloneInAnyBatchAndAtAnyBudgetHasOneVector) {
  const SmallModel folder;
  const EmbeddingModel model = load(folder);
  const std::vector<float> together = embed(model, kTexts);
  const auto dimension = static_cast<size_t>(model.dimension());
  EXPECT_TRUE(model.token_budget() >= 256 && model.token_budget() <= 8192);  // nobody asked
  for (size_t i = 0; i < std::size(kTexts); ++i) {
    const std::vector<float> alone = embed(model, std::span(&kTexts[i], 1));
    EXPECT_TRUE(same_bits(alone, std::span(together).subspan(i * dimension, dimension))) << i;
  }
  for (const int64_t budget : {1, 5, 16, 4096}) {
    for (const int threads : {1, 2, 3, 8}) {
      const EmbeddingModel other = load(folder, {.threads = threads, .token_budget = budget});
      EXPECT_EQ(other.token_budget(), budget);
      EXPECT_TRUE(same_bits(embed(other, kTexts), together)) << budget << " " << threads;
    }
  }
}

TEST(EmbeddingModel, ConcurrentCallersGetTheirOwnVectors) {
  const SmallModel folder;
  const EmbeddingModel model = load(folder, {.threads = 2});
  const std::vector<float> expected = embed(model, kTexts);
  std::vector<std::thread> callers;
  std::vector<int> wrong(6);
  for (size_t caller = 0; caller < wrong.size(); ++caller) {
    callers.emplace_back([&, caller] {
      for (int repeat = 0; repeat < 8; ++repeat) {
        std::vector<float> vectors(expected.size());
        if (!model.embed(kTexts, vectors).ok() || !same_bits(vectors, expected)) ++wrong[caller];
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

TEST(EmbeddingModel, TokenIdsGiveTheVectorsOfTheirTexts) {
  const SmallModel folder;
  const EmbeddingModel model = load(folder);
  const PackedTokens tokens = *model.tokenize(kTexts);
  EXPECT_EQ(std::vector<int32_t>(tokens.ids.begin(), tokens.ids.begin() + 5),
            (std::vector<int32_t>{2, 4, 5, 6, 3}));
  std::vector<float> vectors(std::size(kTexts) * 96);
  ASSERT_TRUE(model.embed_ids(tokens.ids, tokens.offsets, vectors).ok());
  EXPECT_TRUE(same_bits(vectors, embed(model, kTexts)));
}

TEST(EmbeddingModel, VectorsAreNearTheOracles) {
  const SmallModel folder;
  const std::vector<float> fast = embed(load(folder), kTexts);
  const std::vector<float> exact = embed(load(folder, {.target = "interp"}), kTexts);
  double largest = 0;
  for (size_t i = 0; i < fast.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(fast[i]) - exact[i]));
  }
  EXPECT_LT(largest, 4e-7);
  EXPECT_GT(largest, 0);  // they are two evaluations, not one
}

TEST(EmbeddingModel, VectorsHaveLengthOneOnlyWhereNormalizeIsDeclared) {
  SmallModel folder;
  const auto length = [](const std::vector<float>& vector) {
    double sum = 0;
    for (const float x : vector) sum += static_cast<double>(x) * x;
    return std::sqrt(sum);
  };
  const std::span<const std::string_view> one(&kTexts[0], 1);
  EXPECT_NEAR(length(embed(load(folder), one)), 1, 1e-6);
  const EmbeddingModel raw = load(folder, {.normalize = false});
  EXPECT_GT(std::abs(length(embed(raw, one)) - 1), 0.01);
  EXPECT_FALSE(raw.remarks().empty());
  folder.remove("modules.json");
  const EmbeddingModel plain = load(folder);
  EXPECT_GT(std::abs(length(embed(plain, one)) - 1), 0.01);
  EXPECT_FALSE(plain.remarks().empty());
}

TEST(EmbeddingModel, EveryPoolingAndConcatenationChangesTheVector) {
  SmallModel folder;
  std::vector<std::vector<float>> vectors;
  for (const char* pooling :
       {"cls", "mean", "max", "mean_sqrt_len", "weighted_mean", "last_token"}) {
    const EmbeddingModel model = load(folder, {.pooling = pooling, .normalize = false});
    EXPECT_EQ(model.dimension(), 96);
    vectors.push_back(embed(model, std::span(&kTexts[2], 1)));
    for (size_t other = 0; other + 1 < vectors.size(); ++other) {
      EXPECT_FALSE(same_bits(vectors[other], vectors.back())) << pooling;
    }
  }
  folder.write("1_Pooling/config.json", R"({"word_embedding_dimension": 96,
      "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true})");
  const EmbeddingModel both = load(folder, {.normalize = false});
  ASSERT_EQ(both.dimension(), 192);
  const std::vector<float> pair = embed(both, std::span(&kTexts[2], 1));
  EXPECT_TRUE(same_bits(std::span(pair).first(96), vectors[0]));
  EXPECT_TRUE(same_bits(std::span(pair).last(96), vectors[1]));
  EXPECT_EQ(load_error(folder, {.pooling = "median"}), "pooling-unknown");
}

TEST(EmbeddingModel, DenseIsAppliedWithAndWithoutBias) {
  SmallModel folder;
  const auto modules = [](const char* dense) {
    return replaced(testing::kMeanNormalize, R"({"idx": 2,)",
                    std::string(R"({"idx": 2, "name": "2", "path": ")") + dense +
                        R"(", "type": "sentence_transformers.models.Dense"}, {"idx": 3,)");
  };
  folder.write("modules.json", modules("2_Dense_32"));
  Array weight = Array::zeros(DType::F32, {32, 96});
  testing::Random numbers(3);
  for (float& value : weight.mutable_as<float>()) value = numbers.signed_unit() * 0.1F;
  Array bias = Array::zeros(DType::F32, {32});
  for (float& value : bias.mutable_as<float>()) value = numbers.signed_unit();
  folder.write("2_Dense_32/model.safetensors",
               safetensors_bytes({{"linear.weight", weight}, {"linear.bias", bias}}));
  const std::string config = R"({"in_features": 96, "out_features": 32, "bias": true,
      "activation_function": "torch.nn.modules.activation.Tanh"})";
  folder.write("2_Dense_32/config.json", config);
  const EmbeddingModel with_bias = load(folder);
  ASSERT_EQ(with_bias.dimension(), 32);
  const std::vector<float> biased = embed(with_bias, std::span(&kTexts[0], 1));
  // tanh(W p + b), normalized, in plain arithmetic on the mean-pooled states of the same model.
  const EmbeddingModel pooled_model = [&] {
    SmallModel plain;
    return load(plain, {.normalize = false});
  }();
  const std::vector<float> pooled = embed(pooled_model, std::span(&kTexts[0], 1));
  std::vector<double> dense(32);
  double squares = 0;
  for (size_t o = 0; o < 32; ++o) {
    double sum = bias.as<float>()[o];
    for (size_t i = 0; i < 96; ++i) {
      sum += static_cast<double>(weight.as<float>()[o * 96 + i]) * pooled[i];
    }
    dense[o] = std::tanh(sum);
    squares += dense[o] * dense[o];
  }
  // The pooled vector above was rounded to f32: some 1e-7 of it comes through.
  for (size_t o = 0; o < 32; ++o) {
    EXPECT_NEAR(biased[o], dense[o] / std::sqrt(squares), 5e-7) << o;
  }
  folder.write("2_Dense_32/config.json", replaced(config, "true", "false"));
  folder.write("2_Dense_32/model.safetensors", safetensors_bytes({{"linear.weight", weight}}));
  const std::vector<float> unbiased = embed(load(folder), std::span(&kTexts[0], 1));
  EXPECT_FALSE(same_bits(biased, unbiased));
  folder.write("2_Dense_32/config.json", config);
  EXPECT_EQ(load_error(folder), "weights-incomplete");  // a bias is declared and not there
  folder.write("2_Dense_32/config.json", replaced(config, "Tanh", "Softplus"));
  EXPECT_EQ(load_error(folder), "dense-activation-unknown");
  folder.write("2_Dense_32/config.json",
               replaced(config, "\"in_features\": 96", "\"in_features\": 95"));
  EXPECT_NE(load_error(folder), "loaded");
}

TEST(EmbeddingModel, HalfPrecisionCheckpointsWidenExactly) {
  SmallModel folder;
  for (const DType dtype : {DType::F16, DType::BF16}) {
    std::map<std::string, Array> narrow;
    std::map<std::string, Array> wide;
    for (const auto& [name, array] : testing::small_checkpoint()) {
      Array half = Array::zeros(dtype, array.sizes());
      Array full = Array::zeros(DType::F32, array.sizes());
      for (int64_t i = 0; i < array.elements(); ++i) {
        half.set(i, array.f64_at(i));
        full.set(i, half.f64_at(i));
      }
      narrow.emplace(name, half);
      wide.emplace(name, full);
    }
    folder.write_weights(narrow);
    const std::vector<float> from_half = embed(load(folder), kTexts);
    folder.write_weights(wide);
    EXPECT_TRUE(same_bits(from_half, embed(load(folder), kTexts))) << dtype_name(dtype);
  }
}

TEST(EmbeddingModel, PrefixesLegacyNamesAndUnusedTensorsAreUnderstood) {
  SmallModel folder;
  const std::vector<float> expected = embed(load(folder), kTexts);
  std::map<std::string, Array> renamed;
  for (const auto& [name, array] : testing::small_checkpoint()) {
    std::string other = "bert." + name;
    if (const size_t at = other.find("LayerNorm.weight"); at != std::string::npos) {
      other.replace(at, std::string::npos, "LayerNorm.gamma");
    }
    if (const size_t at = other.find("LayerNorm.bias"); at != std::string::npos) {
      other.replace(at, std::string::npos, "LayerNorm.beta");
    }
    renamed.emplace(other, array);
  }
  renamed.emplace("bert.embeddings.position_ids", Array::zeros(DType::I64, {1, 512}));
  renamed.emplace("bert.pooler.dense.weight", Array::zeros(DType::F32, {96, 96}));
  renamed.emplace("something.else", Array::zeros(DType::F32, {3}));
  folder.write_weights(renamed);
  const EmbeddingModel model = load(folder);
  EXPECT_TRUE(same_bits(embed(model, kTexts), expected));
  EXPECT_EQ(model.parts().weights.known_unused,
            (std::vector<std::string>{"bert.embeddings.position_ids", "bert.pooler.dense.weight"}));
  EXPECT_EQ(model.parts().weights.unused, std::vector<std::string>{"something.else"});
}

TEST(EmbeddingModel, MissingAndMisshapenTensorsAreListedTogether) {
  SmallModel folder;
  std::map<std::string, Array> tensors = testing::small_checkpoint();
  tensors.erase("encoder.layer.1.output.dense.bias");
  tensors["embeddings.LayerNorm.weight"] = Array::zeros(DType::F32, {95});
  folder.write_weights(tensors);
  const Result<EmbeddingModel> model = EmbeddingModel::load(folder.path());
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().code, "weights-incomplete");
  EXPECT_NE(model.error().message.find("encoder.layer.1.output.dense.bias: missing, needed [96]"),
            std::string::npos);
  EXPECT_NE(model.error().message.find("embeddings.LayerNorm.weight: is [95], needed [96]"),
            std::string::npos);
  EXPECT_EQ(model.error().message.find('\n'), std::string::npos);  // it is printed as one line
  tensors = testing::small_checkpoint();
  tensors["embeddings.LayerNorm.weight"] = Array::zeros(DType::I32, {96});
  folder.write_weights(tensors);
  EXPECT_EQ(load_error(folder), "weights-dtype");
}

struct BadConfig {
  const char* from;
  const char* to;
  const char* code;
};

TEST(EmbeddingModel, ConfigsThatAskForSomethingElseAreRefused) {
  constexpr BadConfig kCases[] = {
      {"\"bert\"", "\"gpt2\"", "model-family-unknown"},
      {"\"gelu\"", "\"gelu_10\"", "config-unsupported"},
      {"\"hidden_act\": \"gelu\"", "\"hidden_act\": 3", "config-wrong-type"},
      {", \"hidden_act\": \"gelu\"", "", "config-missing-key"},
      {"\"hidden_act\": \"gelu\"",
       "\"hidden_act\": \"gelu\", \"position_embedding_type\": \"relative_key\"",
       "config-unsupported"},
      {"\"hidden_act\": \"gelu\"", "\"hidden_act\": \"gelu\", \"is_decoder\": true",
       "config-unsupported"},
      {"\"num_attention_heads\": 3", "\"num_attention_heads\": 5", "config-invalid"},
      {"\"layer_norm_eps\": 1e-12", "\"layer_norm_eps\": -1", "config-out-of-range"},
      {"\"vocab_size\": 1000", "\"vocab_size\": 999", "weights-incomplete"},
      {"\"vocab_size\": 1000", "\"vocab_size\": 0", "config-out-of-range"},
      {"{", "[", "json-syntax"},
  };
  for (const BadConfig& bad : kCases) {
    SmallModel folder;
    folder.write("config.json", replaced(testing::kSmallConfig, bad.from, bad.to));
    EXPECT_EQ(load_error(folder), bad.code) << bad.from << " -> " << bad.to;
  }
}

// The names and their meanings are those of ACT2FN in Hugging Face transformers.
TEST(EmbeddingModel, HiddenActDecidesTheOp) {
  const std::pair<const char*, const char*> kCases[] = {
      {"gelu", "gelu exact"},     {"gelu_python", "gelu exact"},
      {"gelu_new", "gelu tanh"},  {"gelu_pytorch_tanh", "gelu tanh"},
      {"gelu_fast", "gelu tanh"}, {"relu", "relu"},
      {"silu", "silu"},           {"swish", "silu"},
  };
  for (const auto& [name, expected] : kCases) {
    SmallModel folder;
    folder.write("config.json",
                 replaced(testing::kSmallConfig, "\"gelu\"", "\"" + std::string(name) + "\""));
    std::vector<std::string> found;
    const EmbeddingModel model = load(folder);
    for (const Node& node : model.parts().graph.nodes()) {
      if (node.op == &kGelu) {
        found.emplace_back(node.attrs_as<GeluAttrs>().approximate ? "gelu tanh" : "gelu exact");
      }
      if (node.op == &kRelu || node.op == &kSilu) found.emplace_back(node.op->name);
    }
    EXPECT_EQ(found, (std::vector<std::string>{expected, expected})) << name;  // one a layer
  }
}

TEST(EmbeddingModel, MissingFilesAreNamed) {
  for (const auto& [file, code] : {std::pair("config.json", "config-missing"),
                                   std::pair("model.safetensors", "weights-missing")}) {
    SmallModel folder;
    folder.remove(file);
    EXPECT_EQ(load_error(folder), code);
  }
  SmallModel folder;
  folder.remove("tokenizer.json");
  const EmbeddingModel model = load(folder);
  std::vector<float> vector(96);
  EXPECT_EQ(model.embed(std::span(&kTexts[0], 1), vector).error().code, "tokenizer-missing");
  const int32_t ids[] = {2, 4, 3};
  const int64_t offsets[] = {0, 3};
  EXPECT_TRUE(model.embed_ids(ids, offsets, vector).ok());
}

TEST(EmbeddingModel, ATokenizerOfAnotherModelIsRefused) {
  SmallModel folder;
  folder.write("tokenizer.json", replaced(kWordPiece, "\"日本\":16", "\"日本\":1600"));
  EXPECT_EQ(load_error(folder), "tokenizer-vocabulary");
}

TEST(EmbeddingModel, BadTokenIdsAreRefused) {
  const SmallModel folder;
  const EmbeddingModel model = load(folder);
  std::vector<float> vectors(96);
  const auto code = [&](std::vector<int32_t> ids, std::vector<int64_t> offsets, size_t room = 96) {
    vectors.resize(room);
    const Status status = model.embed_ids(ids, offsets, vectors);
    return status.ok() ? "done" : status.error().code;
  };
  EXPECT_EQ(code({2, 4, 3}, {0, 3}), "done");
  EXPECT_EQ(code({2, 1000, 3}, {0, 3}), "token-id-out-of-range");
  EXPECT_EQ(code({2, -1, 3}, {0, 3}), "token-id-out-of-range");
  EXPECT_EQ(code({2, 4, 3}, {0, 2}), "offsets-invalid");
  EXPECT_EQ(code({2, 4, 3}, {1, 3}), "offsets-invalid");
  EXPECT_EQ(code({2, 4, 3}, {0, 5, 3}, 192), "offsets-invalid");
  EXPECT_EQ(code({2, 4, 3}, {0, 0, 3}, 192), "sequence-empty");
  EXPECT_EQ(code({2, 4, 3}, {0, 3}, 95), "output-size");
  EXPECT_EQ(code({}, {}), "offsets-invalid");
  EXPECT_EQ(code({}, {0}, 0), "done");
  EXPECT_EQ(code(std::vector<int32_t>(513, 4), {0, 513}), "too-many-tokens");
}

TEST(EmbeddingModel, TheLimitIsTheSmallestDeclaredAndCanBeOverridden) {
  SmallModel folder;
  EXPECT_EQ(load(folder).max_length(), 64);
  folder.remove("sentence_bert_config.json");
  folder.write("tokenizer_config.json", R"({"model_max_length": 100})");
  EXPECT_EQ(load(folder).max_length(), 100);
  folder.write("tokenizer_config.json", R"({"model_max_length": 1000})");
  EXPECT_EQ(load(folder).max_length(), 512);
  const EmbeddingModel longer = load(folder, {.max_length = 8});
  const std::string text = "a b c d e a b c d e";
  const std::string_view one[] = {text};
  std::vector<float> vector(96);
  TextReport report[1];
  ASSERT_TRUE(longer.embed(one, vector, report).ok());
  EXPECT_EQ(report[0].tokens, 8);
  EXPECT_EQ(report[0].dropped_tokens, 4);
  EXPECT_EQ(longer.tokenize(one)->ids.back(), 3);  // the closing token stays
  EXPECT_EQ(load_error(folder, {.max_length = 513}), "max-length-out-of-range");
  EXPECT_EQ(load_error(folder, {.max_length = 0}), "max-length-out-of-range");
  const EmbeddingModel strict = load(folder, {.max_length = 8, .on_overflow = Overflow::Fail});
  EXPECT_EQ(strict.embed(one, vector).error().code, "too-many-tokens");
}

TEST(EmbeddingModel, InvalidUtf8IsReplacedAndCountedOrRefused) {
  const SmallModel folder;
  const std::string_view text[] = {"a \xff b"};
  std::vector<float> vector(96);
  TextReport report[1];
  ASSERT_TRUE(load(folder).embed(text, vector, report).ok());
  EXPECT_EQ(report[0].replaced, 1);
  EXPECT_EQ(load(folder, {.strict_utf8 = true}).embed(text, vector).error().code, "utf8-invalid");
}

TEST(EmbeddingModel, PromptsStandBeforeEveryTextAndMayBeLeftOutOfThePooling) {
  SmallModel folder;
  folder.write("config_sentence_transformers.json",
               R"({"prompts": {"query": "d e "}, "default_prompt_name": null})");
  const std::span<const std::string_view> one(&kTexts[0], 1);
  const std::string_view spelled[] = {"d e a b c"};
  const EmbeddingModel named = load(folder, {.prompt = "query"});
  const std::vector<float> expected = embed(load(folder), spelled);
  EXPECT_TRUE(same_bits(embed(named, one), expected));
  EXPECT_TRUE(same_bits(embed(load(folder, {.prompt = "d e "}), one), expected));
  folder.write("config_sentence_transformers.json",
               R"({"prompts": {"query": "d e "}, "default_prompt_name": "query"})");
  EXPECT_TRUE(same_bits(embed(load(folder), one), expected));
  folder.write("1_Pooling/config.json", R"({"word_embedding_dimension": 96,
      "pooling_mode_mean_tokens": true, "include_prompt": false})");
  // [CLS] d e stand before the text: three tokens are left out.
  const EmbeddingModel without = load(folder);
  const PackedTokens tokens = *without.tokenize(one);
  ASSERT_EQ(tokens.ids, (std::vector<int32_t>{2, 7, 8, 4, 5, 6, 3}));
  std::vector<float> hidden(tokens.ids.size() * 96);
  {
    const EmbeddingModel::Parts& parts = without.parts();
    std::unique_ptr<BatchWorkspace> batch = parts.take_workspace();
    fill_batch(*parts.encoder, tokens.ids, tokens.offsets, 0, 1, *batch);
    std::array<int64_t, 2> extents;
    const OutputRef output[] = {OutputRef(DType::F32, hidden.data(), hidden.size() * 4)};
    ASSERT_TRUE(
        parts.executable->run(batch->workspace, batch_inputs(*batch, extents), output).ok());
  }
  std::vector<double> mean(96);
  double squares = 0;
  for (size_t d = 0; d < 96; ++d) {
    for (size_t token = 3; token < 7; ++token) mean[d] += hidden[token * 96 + d];
    mean[d] /= 4;
    squares += mean[d] * mean[d];
  }
  const std::vector<float> vector = embed(without, one);
  for (size_t d = 0; d < 96; ++d) EXPECT_NEAR(vector[d], mean[d] / std::sqrt(squares), 1e-7) << d;
}

TEST(EmbeddingModel, AnApproximationIsRecordedAndMovesTheVectors) {
  const SmallModel folder;
  const EmbeddingModel exact = load(folder);
  const EmbeddingModel tanh = load(folder, {.approximate = {"gelu=tanh"}});
  EXPECT_TRUE(exact.parts().approximations.empty());
  ASSERT_EQ(tanh.parts().approximations.size(), 2U);
  EXPECT_EQ(tanh.parts().approximations[0].legalized_from, "gelu(approximate=false)");
  EXPECT_DOUBLE_EQ(tanh.parts().approximations[0].max_abs_error, 4.8e-4);
  EXPECT_FALSE(same_bits(embed(exact, kTexts), embed(tanh, kTexts)));
  EXPECT_EQ(load_error(folder, {.approximate = {"gelu=cubic"}}), "approximation-unknown");
}

PassList tanh_passes() {
  static const std::vector<const Pass*> kList = [] {
    std::vector<const Pass*> list{&kGeluTanh};
    list.insert(list.end(), cpu_passes().begin(), cpu_passes().end());
    return list;
  }();
  return kList;
}

TEST(EmbeddingModel, ATargetThatApproximatesDoesSoEagerlyAndOptimized) {
  const Target variant{.name = "variant",
                       .summary = "The cpu with tanh for exact gelu.",
                       .base = &cpu::kTarget,
                       .optimizer = {.dag_passes = tanh_passes}};
  const EmbeddingOptions options{.target = "variant", .targets = {&variant}};
  const SmallModel folder;
  const EmbeddingModel model = load(folder, options);
  EXPECT_EQ(model.parts().approximations.size(), 2U);
  EXPECT_EQ(std::ranges::count_if(model.remarks(),
                                  [](const std::string& remark) {
                                    return remark.starts_with("GELU_APPROX_LEGALIZED node=");
                                  }),
            2);
  EXPECT_TRUE(
      same_bits(embed(model, kTexts), embed(load(folder, {.approximate = {"gelu=tanh"}}), kTexts)));
  const PackedTokens tokens{.ids = {1, 4, 5, 2}, .offsets = {0, 4}, .reports = {}};
  const Verification verified = verify_model(model, tokens, nullptr).value_or_throw();
  EXPECT_EQ(verified.target, "variant");
  EXPECT_EQ(verified.differing_values, 0);
  EXPECT_EQ(load_error(folder, {.target = "cpu", .targets = {&variant}}), "target-unknown");
}

TEST(EmbeddingModel, AVectorThatIsNotFiniteIsAnError) {
  SmallModel folder;
  std::map<std::string, Array> tensors = testing::small_checkpoint();
  tensors["embeddings.word_embeddings.weight"].set(4 * 96, INFINITY);
  folder.write_weights(tensors);
  std::vector<float> vector(96);
  EXPECT_EQ(load(folder).embed(std::span(&kTexts[0], 1), vector).error().code, "vector-not-finite");
}

}  // namespace
}  // namespace capra
