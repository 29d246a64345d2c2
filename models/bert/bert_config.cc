// Reading a BERT config: every field that decides what is computed is honoured or refused.
#include <array>
#include <utility>

#include "capra/base/number_text.h"
#include "models/bert/bert.h"

namespace capra {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 24;

// The names Hugging Face transformers gives its activations (ACT2FN).
constexpr std::array<std::pair<std::string_view, nn::Activation>, 8> kActivations = {{
    {"gelu", nn::Activation::GeluExact},
    {"gelu_python", nn::Activation::GeluExact},
    {"gelu_new", nn::Activation::GeluTanh},
    {"gelu_pytorch_tanh", nn::Activation::GeluTanh},
    {"gelu_fast", nn::Activation::GeluTanh},
    {"relu", nn::Activation::Relu},
    {"silu", nn::Activation::Silu},
    {"swish", nn::Activation::Silu},
}};

Result<nn::Activation> find_activation(std::string_view name, const std::string& path) {
  std::string known;
  for (const auto& [spelling, activation] : kActivations) {
    if (spelling == name) return activation;
    known += (known.empty() ? "" : ", ") + std::string(spelling);
  }
  return fail("config-unsupported",
              "hidden_act is \"" + std::string(name) + "\", which is not known here", path,
              "known activations: " + known);
}

}  // namespace

Result<BertConfig> read_bert_config(const ModelConfig& config) {
  BertConfig bert;
  CAPRA_ASSIGN(bert.vocab_size, config.integer("vocab_size", 1, kMaxSize));
  CAPRA_ASSIGN(bert.hidden_size, config.integer("hidden_size", 1, kMaxSize));
  CAPRA_ASSIGN(bert.num_hidden_layers, config.integer("num_hidden_layers", 0, 1000));
  CAPRA_ASSIGN(bert.num_attention_heads, config.integer("num_attention_heads", 1, kMaxSize));
  CAPRA_ASSIGN(bert.intermediate_size, config.integer("intermediate_size", 1, kMaxSize));
  CAPRA_ASSIGN(bert.max_position_embeddings,
               config.integer("max_position_embeddings", 1, kMaxSize));
  CAPRA_ASSIGN(bert.type_vocab_size, config.integer("type_vocab_size", 1, kMaxSize));
  CAPRA_ASSIGN(bert.layer_norm_eps, config.number("layer_norm_eps", 0, 1));
  CAPRA_ASSIGN(bert.hidden_act_name, config.string("hidden_act"));
  CAPRA_ASSIGN(bert.hidden_act, find_activation(bert.hidden_act_name, config.path()));

  if (bert.hidden_size % bert.num_attention_heads != 0) {
    return fail("config-invalid",
                "hidden_size " + number_text(bert.hidden_size) +
                    " is not a multiple of num_attention_heads " +
                    number_text(bert.num_attention_heads),
                config.path());
  }
  CAPRA_ASSIGN(const std::string positions,
               config.string_or("position_embedding_type", "absolute"));
  if (positions != "absolute") {
    return fail("config-unsupported",
                "position_embedding_type is \"" + positions + "\", needed \"absolute\"",
                config.path(), "relative positions are another encoder than this one");
  }
  for (const std::string_view flag : {"is_decoder", "add_cross_attention"}) {
    CAPRA_ASSIGN(const bool set, config.boolean_or(flag, false));
    if (set) {
      return fail("config-unsupported", std::string(flag) + " is true, needed false", config.path(),
                  "only encoders run here");
    }
  }
  return bert;
}

}  // namespace capra
