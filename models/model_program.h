// A model folder as a program for another machine: one sequence of token ids in, states or a vector
// out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "capra/base/result.h"
#include "capra/io/hf_config.h"
#include "capra/ir/graph.h"
#include "capra/ir/parameters.h"
#include "models/sentence_head.h"

namespace capra {

/// What a program ends in.
enum class ProgramOutput : uint8_t {
  Hidden,     ///< the last state [tokens, hidden_size]
  Pooled,     ///< what the pooling makes of it
  Embedding,  ///< the vector: pooling, dense layers, normalization
};
/// `hidden`, `pooled`, `embedding`: also the names of the outputs. Fails with `option-invalid`.
Result<ProgramOutput> find_program_output(std::string_view name);

struct ModelProgramOptions {
  std::optional<int64_t> length;  ///< tokens of a text; none: any number
  ProgramOutput output = ProgramOutput::Hidden;
};

/// The traced program, its data, and what the folder says of texts.
struct ModelProgram {
  Graph graph;
  Parameters parameters;
  SentenceConfig config;
  TokenLimit limit;
  // Of a program that ends in the embedding:
  SentenceHead head;
  std::string prompt;          ///< stands before every text
  int64_t special_tokens = 0;  ///< that stand round a text; an empty one has no others
  std::string tokenizer_json;  ///< of the tokenizer as it is used here
};

/// Parameters have the same paths and data whatever the options, so programs of one folder share an
/// archive: that of an embedding serves all. Fails as EmbeddingModel::load does, and with
/// `max-length-out-of-range`.
Result<ModelProgram> open_model_program(const std::string& folder,
                                        const ModelProgramOptions& options);

}  // namespace capra
