// What stands round the encoder of a sentence model, from what its folder declares.
#pragma once

#include <string>
#include <vector>

#include "capra/base/result.h"
#include "capra/io/hf_config.h"
#include "capra/io/tokenizer.h"
#include "models/embedding_model.h"
#include "models/encoder.h"
#include "models/sentence_head.h"

namespace capra {

/// The head for an encoder of this hidden size, its data with it. Of `options`, pooling and
/// normalize override what the folder declares, which `remarks` then says. Fails with
/// `pooling-size`, `pooling-unknown`, `dense-shape`, `weights-incomplete`, and as
/// Checkpoint::open_folder does.
Result<SentenceHead> load_head(const SentenceConfig& config, int64_t hidden_size,
                               const EmbeddingOptions& options, std::vector<std::string>& remarks);

/// The text that the folder puts before every text; usually empty.
std::string default_prompt(const SentenceConfig& config);

/// Fails with `tokenizer-vocabulary` where the tokenizer has ids that the encoder has no row for.
Status check_vocabulary(const Tokenizer& tokenizer, const Encoder& encoder,
                        const std::string& folder);

/// Tokens at the start of a text with `prompt` before it that the pooling leaves out.
Result<int64_t> unpooled_tokens(const SentenceConfig& config, const Tokenizer& tokenizer,
                                const std::string& prompt);

}  // namespace capra
