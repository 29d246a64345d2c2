// The head, the default prompt and the checks that both text and programs need.
#include "models/sentence_parts.h"

#include <algorithm>

#include "capra/base/number_text.h"
#include "capra/io/checkpoint.h"

namespace capra {
namespace {

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

Result<Array> dense_tensor(const Checkpoint& checkpoint, std::string_view name,
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
  return widen_to_f32(stored);
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

}  // namespace

Result<SentenceHead> load_head(const SentenceConfig& config, int64_t hidden,
                               const EmbeddingOptions& options, std::vector<std::string>& remarks) {
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
    remarks.push_back("pooling is " + *options.pooling + " as asked; the checkpoint declares " +
                      declared);
  }
  std::vector<SentenceHead::Step> steps;
  for (const HeadModule& module : config.head) {
    if (const auto* dense = std::get_if<DenseModule>(&module)) {
      CAPRA_ASSIGN(DenseStep step, load_dense(*dense));
      steps.emplace_back(std::move(step));
    } else if (options.normalize.value_or(true)) {
      steps.emplace_back(NormalizeStep{});
    } else {
      remarks.emplace_back("vectors are not normalized, as asked; the checkpoint declares it");
    }
  }
  const bool normalizes = std::ranges::any_of(
      steps, [](const auto& step) { return std::holds_alternative<NormalizeStep>(step); });
  if (options.normalize.value_or(false) && !normalizes) {
    steps.emplace_back(NormalizeStep{});
    remarks.emplace_back("vectors are normalized, as asked; the checkpoint does not declare it");
  }
  return SentenceHead::make(hidden, std::move(poolings), std::move(steps));
}

std::string default_prompt(const SentenceConfig& config) {
  if (!config.default_prompt) return {};
  const auto named = config.prompts.find(*config.default_prompt);
  return named == config.prompts.end() ? std::string() : named->second;
}

Status check_vocabulary(const Tokenizer& tokenizer, const Encoder& encoder,
                        const std::string& folder) {
  if (tokenizer.id_bound() <= encoder.vocabulary()) return {};
  return fail("tokenizer-vocabulary",
              "the tokenizer has ids up to " + number_text(tokenizer.id_bound() - 1) +
                  ", the model's vocabulary ends at " + number_text(encoder.vocabulary() - 1),
              folder, "check that tokenizer.json and config.json belong together");
}

Result<int64_t> unpooled_tokens(const SentenceConfig& config, const Tokenizer& tokenizer,
                                const std::string& prompt) {
  if (prompt.empty() || config.include_prompt) return int64_t{0};
  CAPRA_ASSIGN(const EncodedText encoded, tokenizer.encode(prompt));
  // All but the closing special token stand before the text.
  return std::max<int64_t>(0, static_cast<int64_t>(encoded.ids.size()) - 1);
}

}  // namespace capra
