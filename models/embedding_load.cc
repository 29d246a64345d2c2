// Opening a folder: configs, encoder, weights, head, tokenizer, and the compiled graph.
#include <unistd.h>

#include <algorithm>
#include <future>

#include "capra/base/number_text.h"
#include "capra/passes/approximate.h"
#include "capra/targets/all_targets.h"
#include "models/embedding_parts.h"
#include "models/weights.h"

namespace capra {
namespace {

using Parts = EmbeddingModel::Parts;

// Tokens computed together when nobody says: the widest activations of a batch take four times the
// second-level caches in use. Fewer leave tiles of products unfilled, more only travel further.
int64_t default_token_budget(const Encoder& encoder, int threads) {
  const int64_t known = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  const int64_t cache = known > 0 ? known : int64_t{1} << 20;
  const int64_t widest = std::max(3 * encoder.hidden_size(), encoder.intermediate_size());
  const int64_t tokens = 4 * cache * threads / (widest * static_cast<int64_t>(sizeof(float)));
  return std::clamp<int64_t>(tokens, 256, 8192);
}

nn::Activation activation_of(DenseActivation activation) {
  switch (activation) {
    case DenseActivation::Identity:
      return nn::Activation::Identity;
    case DenseActivation::Tanh:
      return nn::Activation::Tanh;
    case DenseActivation::Relu:
      return nn::Activation::Relu;
    case DenseActivation::GeluExact:
      return nn::Activation::GeluExact;
    case DenseActivation::Silu:
      return nn::Activation::Silu;
    case DenseActivation::Sigmoid:
      return nn::Activation::Sigmoid;
  }
  CAPRA_CHECK(false);
}

Result<std::vector<float>> dense_tensor(const Checkpoint& checkpoint, std::string_view name,
                                        const std::vector<int64_t>& sizes) {
  const SafetensorsEntry* found = checkpoint.find(name);
  if (found == nullptr || found->sizes != sizes) {
    return fail("weights-incomplete",
                std::string(name) +
                    (found == nullptr ? ": missing" : ": is " + Shape(found->sizes).text()) +
                    ", needed " + Shape(sizes).text(),
                checkpoint.path(),
                "check that the layer's config.json and weights belong together");
  }
  CAPRA_ASSIGN(const Array stored, checkpoint.array(name));
  CAPRA_ASSIGN(const Array array, widen_to_f32(stored));
  const std::span<const float> values = array.as<float>();
  return std::vector<float>(values.begin(), values.end());
}

Result<DenseStep> load_dense(const DenseModule& module) {
  CAPRA_ASSIGN(const Checkpoint checkpoint, Checkpoint::open_folder(module.folder));
  DenseStep step;
  step.in = module.in;
  step.out = module.out;
  step.activation = activation_of(module.activation);
  CAPRA_ASSIGN(step.weight, dense_tensor(checkpoint, "linear.weight", {module.out, module.in}));
  if (module.bias) {
    CAPRA_ASSIGN(step.bias, dense_tensor(checkpoint, "linear.bias", {module.out}));
  }
  return step;
}

Result<SentenceHead> load_head(Parts& parts) {
  const SentenceConfig& config = parts.config;
  const EmbeddingOptions& options = parts.options;
  const int64_t hidden = parts.encoder->hidden_size();
  if (config.pooled_size != 0 && config.pooled_size != hidden) {
    return fail("pooling-size",
                "the pooling is declared for " + number_text(config.pooled_size) +
                    " numbers, the encoder gives " + number_text(hidden),
                config.folder, "check that the folder's configs belong together");
  }
  std::vector<Pooling> poolings;
  std::string declared;
  for (const std::string& name : config.pooling) {
    CAPRA_ASSIGN(const Pooling pooling, find_pooling(name));
    poolings.push_back(pooling);
    declared += (declared.empty() ? "" : " + ") + name;
  }
  if (options.pooling) {
    CAPRA_ASSIGN(const Pooling pooling, find_pooling(*options.pooling));
    poolings = {pooling};
    parts.remarks.push_back("pooling is " + *options.pooling +
                            " as asked; the checkpoint declares " + declared);
  }
  std::vector<SentenceHead::Step> steps;
  for (const HeadModule& module : config.head) {
    if (const auto* dense = std::get_if<DenseModule>(&module)) {
      CAPRA_ASSIGN(DenseStep step, load_dense(*dense));
      steps.emplace_back(std::move(step));
    } else if (options.normalize.value_or(true)) {
      steps.emplace_back(NormalizeStep{});
    } else {
      parts.remarks.emplace_back(
          "vectors are not normalized, as asked; the checkpoint declares it");
    }
  }
  const bool normalizes = std::ranges::any_of(
      steps, [](const auto& step) { return std::holds_alternative<NormalizeStep>(step); });
  if (options.normalize.value_or(false) && !normalizes) {
    steps.emplace_back(NormalizeStep{});
    parts.remarks.emplace_back(
        "vectors are normalized, as asked; the checkpoint does not declare it");
  }
  return SentenceHead::make(hidden, std::move(poolings), std::move(steps));
}

Status choose_limit(Parts& parts) {
  const int64_t positions = parts.encoder->longest_sequence();
  const TokenLimit declared = token_limit(parts.config, positions);
  parts.limit = declared;
  if (!parts.options.max_length) return {};
  const int64_t asked = *parts.options.max_length;
  if (asked < 1 || asked > positions) {
    return fail("max-length-out-of-range",
                "a length of " + number_text(asked) +
                    " tokens was asked for, the model has positions for 1 to " +
                    number_text(positions),
                "--max-length", "give a length within these positions");
  }
  parts.limit = {asked, "--max-length"};
  if (asked > declared.tokens) {
    parts.remarks.push_back("the length limit is " + number_text(asked) + " tokens as asked; " +
                            declared.source + " says " + number_text(declared.tokens));
  }
  return {};
}

// Prompts are text: token ids are used as they are.
Status choose_prompt(Parts& parts) {
  const SentenceConfig& config = parts.config;
  if (!parts.options.tokenizer) {
    if (!parts.options.prompt) return {};
    return fail("option-invalid", "a prompt cannot be put before token ids", "--prompt",
                "give text, or ids that hold the prompt");
  }
  if (parts.options.prompt) {
    const auto named = config.prompts.find(*parts.options.prompt);
    parts.prompt = named == config.prompts.end() ? *parts.options.prompt : named->second;
    parts.remarks.push_back("every text is preceded by the prompt \"" + parts.prompt +
                            "\", as asked");
  } else if (config.default_prompt) {
    const auto named = config.prompts.find(*config.default_prompt);
    if (named != config.prompts.end()) parts.prompt = named->second;
    if (!parts.prompt.empty()) {
      parts.remarks.push_back("every text is preceded by the checkpoint's default prompt \"" +
                              parts.prompt + "\"");
    }
  }
  return {};
}

// Without a tokenizer the model still takes token ids; whoever gives text is told what is wrong.
Status take_tokenizer(Parts& parts, Result<Tokenizer> loaded) {
  if (!loaded.ok()) {
    parts.no_tokenizer = loaded.error();
    return {};
  }
  if (loaded->id_bound() > parts.encoder->vocabulary()) {
    return fail("tokenizer-vocabulary",
                "the tokenizer has ids up to " + number_text(loaded->id_bound() - 1) +
                    ", the model's vocabulary ends at " +
                    number_text(parts.encoder->vocabulary() - 1),
                parts.folder, "check that tokenizer.json and config.json belong together");
  }
  parts.tokenizer = *std::move(loaded);
  if (!parts.prompt.empty() && !parts.config.include_prompt) {
    CAPRA_ASSIGN(const EncodedText prompt, parts.tokenizer->encode(parts.prompt));
    // All but the closing special token stand before the text.
    parts.prompt_size = std::max<int64_t>(0, static_cast<int64_t>(prompt.ids.size()) - 1);
  }
  return {};
}

// A head for another task looks like this.
std::string unused_remark(const std::vector<std::string>& names) {
  constexpr size_t kMost = 3;
  std::string list;
  for (size_t i = 0; i < names.size() && i < kMost; ++i) list += (i == 0 ? "" : ", ") + names[i];
  return number_text(static_cast<int64_t>(names.size())) +
         " tensors of the checkpoint play no part in these vectors: " + list +
         (names.size() > kMost ? ", ..." : "");
}

}  // namespace

Result<Graph> EmbeddingModel::Parts::approximated(Graph traced,
                                                  std::vector<std::string>* lines) const {
  CAPRA_ASSIGN(Graph changed,
               approximate(std::move(traced), options.approximate, target->name, lines));
  return approximate_for(*target, std::move(changed), lines);
}

CompileOptions EmbeddingModel::Parts::compile_options() const {
  return {.pool = pool,
          .program = {.without = options.without},
          .tools = {.folder = options.tool_folder, .seconds = options.tool_seconds}};
}

Result<EmbeddingModel> EmbeddingModel::load(const std::string& folder,
                                            const EmbeddingOptions& options) {
  return as_result<Result<EmbeddingModel>>([&]() -> Result<EmbeddingModel> {
    CAPRA_ASSIGN(std::unique_ptr<Parts> parts, open_parts(folder, options));
    return EmbeddingModel(std::move(parts));
  });
}

Result<std::unique_ptr<EmbeddingModel::Parts>> EmbeddingModel::open_parts(
    const std::string& folder, const EmbeddingOptions& options) {
  if (options.threads < 0) {
    return fail("option-invalid", number_text(int64_t{options.threads}) + " threads were asked for",
                "threads", "give a number from 1, or 0 for all CPUs");
  }
  auto parts = std::make_unique<Parts>();
  parts->folder = folder;
  parts->options = options;
  CAPRA_ASSIGN(parts->target,
               find_target(options.targets.empty() ? all_targets() : TargetSet(options.targets),
                           options.target));
  CAPRA_ASSIGN(parts->config, read_sentence_config(folder));
  parts->remarks = parts->config.remarks;
  const std::string& home = parts->config.transformer_folder;
  CAPRA_ASSIGN(const ModelConfig config, ModelConfig::open_folder(home));
  CAPRA_ASSIGN(parts->encoder, open_encoder(config));
  CAPRA_ASSIGN(parts->head, load_head(*parts));
  CAPRA_TRY(choose_limit(*parts));
  CAPRA_TRY(choose_prompt(*parts));

  // The tokenizer takes as long to load as the weights; neither needs the other.
  std::future<Result<Tokenizer>> loading;
  if (options.tokenizer) {
    loading = std::async(std::launch::async, [&home, lower = parts->config.lower_case] {
      return Tokenizer::open_folder(home, lower);
    });
  }

  parts->exact_graph = parts->encoder->trace({.form = SequenceForm::Packed});
  CAPRA_ASSIGN(const Checkpoint checkpoint, Checkpoint::open_folder(home));
  CAPRA_ASSIGN(parts->weights, load_weights(*parts->encoder, parts->exact_graph, checkpoint));
  if (!parts->weights.unused.empty())
    parts->remarks.push_back(unused_remark(parts->weights.unused));
  CAPRA_ASSIGN(parts->graph, parts->approximated(parts->exact_graph, &parts->remarks));
  parts->approximations = capra::approximations(parts->graph);

  parts->pool = std::make_shared<ThreadPool>(options.threads);
  parts->token_budget = options.token_budget > 0
                            ? options.token_budget
                            : default_token_budget(*parts->encoder, parts->pool->threads());
  if (options.compile) {
    CompileOptions compile_options = parts->compile_options();
    compile_options.report = &parts->report;
    CAPRA_ASSIGN(parts->executable,
                 compile(*parts->target, parts->graph, parts->weights.parameters, compile_options));
  }

  if (loading.valid()) CAPRA_TRY(take_tokenizer(*parts, loading.get()));
  return parts;
}

}  // namespace capra
