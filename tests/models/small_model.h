// A whole model folder with the small encoder, for tests of loading: configs, weights, tokenizer.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "capra/io/safetensors.h"
#include "models/bert/bert_names.h"
#include "tests/base/temp_folder.h"
#include "tests/io/small_tokenizers.h"
#include "tests/models/small_encoder.h"

namespace capra::testing {

inline const std::string kSmallConfig = R"({
  "model_type": "bert", "vocab_size": 1000, "hidden_size": 96, "num_hidden_layers": 2,
  "num_attention_heads": 3, "intermediate_size": 200, "max_position_embeddings": 512,
  "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu"})";

inline const std::string kMeanNormalize = R"([
  {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
  {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
  {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])";

/// Weights of the small encoder under their checkpoint names.
inline std::map<std::string, Array> small_checkpoint() {
  const auto encoder = make_bert(small_bert_config());
  std::map<std::string, Array> tensors;
  for (auto& [path, array] : seeded_parameters(encoder->trace({}), 7)) {
    tensors.emplace(bert_checkpoint_names(path).front(), array);
  }
  return tensors;
}

/// A folder that loads; tests then change one thing.
class SmallModel {
 public:
  SmallModel() {
    folder_.write("config.json", kSmallConfig);
    folder_.write("modules.json", kMeanNormalize);
    folder_.write("1_Pooling/config.json",
                  R"({"word_embedding_dimension": 96, "pooling_mode_mean_tokens": true})");
    folder_.write("sentence_bert_config.json", R"({"max_seq_length": 64, "do_lower_case": false})");
    folder_.write("tokenizer.json", kWordPiece);
    write_weights(small_checkpoint());
  }

  const std::string& path() const { return folder_.path(); }
  void write(const std::string& name, std::string_view contents) { folder_.write(name, contents); }
  void remove(const std::string& name) { std::filesystem::remove_all(path() + "/" + name); }
  void write_weights(const std::map<std::string, Array>& tensors) {
    folder_.write("model.safetensors", safetensors_bytes(tensors));
  }

 private:
  TempFolder folder_;
};

}  // namespace capra::testing
