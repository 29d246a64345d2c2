// Tracing a folder's encoder and what follows it as one graph.
#include "models/model_program.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "capra/base/number_text.h"
#include "models/encoder.h"
#include "models/sentence_parts.h"
#include "models/weights.h"

namespace capra {
namespace {

constexpr std::string_view kOutputs[] = {"hidden", "pooled", "embedding"};

// The prompt's tokens count only where the pooling leaves them out, and only the tokenizer knows
// how many they are.
Result<Tokenizer> open_tokenizer(const ModelProgram& program, const Encoder& encoder) {
  const std::string& home = program.config.transformer_folder;
  CAPRA_ASSIGN(Tokenizer tokenizer, Tokenizer::open_folder(home, program.config.lower_case));
  CAPRA_TRY(check_vocabulary(tokenizer, encoder, home));
  return tokenizer;
}

}  // namespace

Result<ProgramOutput> find_program_output(std::string_view name) {
  const auto* found = std::ranges::find(kOutputs, name);
  if (found != std::end(kOutputs)) return static_cast<ProgramOutput>(found - kOutputs);
  return fail("option-invalid", "a program cannot end in '" + std::string(name) + "'", "--outputs",
              "use hidden, pooled or embedding");
}

Result<ModelProgram> open_model_program(const std::string& folder,
                                        const ModelProgramOptions& options) {
  ModelProgram program;
  CAPRA_ASSIGN(program.config, read_sentence_config(folder));
  const std::string& home = program.config.transformer_folder;
  CAPRA_ASSIGN(const ModelConfig config, ModelConfig::open_folder(home));
  CAPRA_ASSIGN(const std::unique_ptr<Encoder> encoder, open_encoder(config));
  program.limit = token_limit(program.config, encoder->longest_sequence());

  TraceOptions trace{.form = SequenceForm::Single};
  if (options.length) {
    if (*options.length < 1 || *options.length > encoder->longest_sequence()) {
      return fail("max-length-out-of-range",
                  "a length of " + number_text(*options.length) +
                      " tokens was asked for, the model has positions for 1 to " +
                      number_text(encoder->longest_sequence()),
                  "--length", "give a length within these positions");
    }
    trace.length = *options.length;
  }

  int64_t unpooled = 0;
  if (options.output != ProgramOutput::Hidden) {
    std::vector<std::string> remarks;
    CAPRA_ASSIGN(program.head, load_head(program.config, encoder->hidden_size(), {}, remarks));
    program.prompt = default_prompt(program.config);
    const bool leaves_out = !program.prompt.empty() && !program.config.include_prompt;
    if (options.output == ProgramOutput::Embedding || leaves_out) {
      CAPRA_ASSIGN(const Tokenizer tokenizer, open_tokenizer(program, *encoder));
      CAPRA_ASSIGN(unpooled, unpooled_tokens(program.config, tokenizer, program.prompt));
      CAPRA_ASSIGN(program.tokenizer_json, tokenizer.text());
      program.special_tokens = tokenizer.special_tokens();
    }
    trace.end_name = kOutputs[static_cast<size_t>(options.output)];
    trace.end = [&](const Tensor& hidden) {
      const Tensor pooled = program.head.pooled(hidden, unpooled);
      return options.output == ProgramOutput::Pooled ? pooled : program.head.finished(pooled);
    };
  }
  program.graph = encoder->trace(trace);

  // The head's data come from files of their own.
  const Graph alone = encoder->trace({.form = SequenceForm::Single});
  CAPRA_ASSIGN(const Checkpoint checkpoint, Checkpoint::open_folder(home));
  CAPRA_ASSIGN(Weights weights, load_weights(*encoder, alone, checkpoint));
  program.parameters = std::move(weights.parameters);
  program.parameters.merge(program.head.parameters());
  return program;
}

}  // namespace capra
