// BERT encoders (Devlin et al. 2019, arXiv:1810.04805), defined once: post-norm, absolute
// positions.
#pragma once

#include <functional>
#include <memory>

#include "capra/nn/layers.h"
#include "models/encoder.h"

namespace capra {

/// The fields of a BERT config that decide what is computed.
struct BertConfig {
  int64_t vocab_size = 0;
  int64_t hidden_size = 0;
  int64_t num_hidden_layers = 0;
  int64_t num_attention_heads = 0;
  int64_t intermediate_size = 0;
  int64_t max_position_embeddings = 0;
  int64_t type_vocab_size = 1;
  double layer_norm_eps = 1e-12;
  nn::Activation hidden_act = nn::Activation::GeluExact;
  std::string hidden_act_name = "gelu";
};

/// Reads and checks a config. Fails with `config-missing-key`, `config-invalid` (sizes that do not
/// fit together) or `config-unsupported` (an activation or position embedding that is not known).
Result<BertConfig> read_bert_config(const ModelConfig& config);

/// Operands of the encoder; empty ones are left out as `bert_encoder` says.
struct BertInputs {
  Tensor ids;          ///< [tokens]
  Tensor positions;    ///< [tokens]; empty: one sequence, rows 0 to tokens of the position table
  Tensor offsets;      ///< [sequences + 1]; empty: one sequence
  Tensor token_types;  ///< [tokens]; empty: every token has type 0
};

/// Told of each state by name: `embeddings`, `layer0.attention`, `layer0.output`, ...
using StateObserver = std::function<void(std::string_view name, const Tensor& state)>;

/// The whole encoder: token ids to hidden states [tokens, hidden_size].
Tensor bert_encoder(const BertConfig& config, const BertInputs& inputs, DType dtype = DType::F32,
                    const StateObserver& observe = {});

/// The family's entry.
Result<std::unique_ptr<Encoder>> open_bert(const ModelConfig& config);
/// The same from a config made in code.
std::unique_ptr<Encoder> make_bert(BertConfig config);

}  // namespace capra
