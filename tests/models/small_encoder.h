// A small BERT with seeded weights, for tests that need an encoder and no checkpoint.
#pragma once

#include <cmath>
#include <cstdint>

#include "capra/ir/parameters.h"
#include "capra/ir/structural_ops.h"
#include "models/bert/bert.h"
#include "tests/support/sequence.h"

namespace capra::testing {

inline BertConfig small_bert_config() {
  BertConfig config;
  config.vocab_size = 1000;
  config.hidden_size = 96;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 3;
  config.intermediate_size = 200;
  config.max_position_embeddings = 512;
  config.type_vocab_size = 2;
  return config;
}

/// Weights for every parameter of `graph`: norms near 1, the rest scaled so that states stay of
/// order 1.
inline Parameters seeded_parameters(const Graph& graph, uint64_t seed) {
  Parameters parameters;
  Random numbers(seed);
  for (const NodeId id : graph.parameters()) {
    const Node& node = graph.node(id);
    const std::string path = node.attrs_as<ParameterAttrs>().path;
    Array array = Array::zeros(node.type.dtype, node.type.shape.sizes());
    const bool norm_weight = path.ends_with("norm.weight");
    const int64_t fan_in = node.type.shape.rank() == 2 ? node.type.shape[1].size() : 16;
    const float scale =
        path.starts_with("embeddings") ? 0.5F : 1.7F / std::sqrt(static_cast<float>(fan_in));
    for (float& value : array.mutable_as<float>()) {
      const float unit = numbers.signed_unit();
      value = norm_weight ? 1.0F + 0.1F * unit : scale * unit;
    }
    parameters.emplace(path, std::move(array));
  }
  return parameters;
}

}  // namespace capra::testing
