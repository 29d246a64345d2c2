// The public calls of a loaded model.
#include "models/embedding_model.h"

#include <utility>

#include "capra/base/number_text.h"
#include "models/embedding_parts.h"

namespace capra {

EmbeddingModel::EmbeddingModel(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
EmbeddingModel::EmbeddingModel(EmbeddingModel&&) noexcept = default;
EmbeddingModel& EmbeddingModel::operator=(EmbeddingModel&&) noexcept = default;
EmbeddingModel::~EmbeddingModel() = default;

int64_t EmbeddingModel::dimension() const { return parts_->head.dimension(); }
int64_t EmbeddingModel::max_length() const { return parts_->limit.tokens; }
int64_t EmbeddingModel::token_budget() const { return parts_->token_budget; }
int EmbeddingModel::threads() const { return parts_->pool->threads(); }
const std::vector<std::string>& EmbeddingModel::remarks() const { return parts_->remarks; }

Status EmbeddingModel::has_tokenizer() const {
  if (parts_->tokenizer) return {};
  if (!parts_->options.tokenizer) {
    return fail("tokenizer-not-loaded", "the model was loaded for token ids alone", parts_->folder,
                "load it with a tokenizer to give it text");
  }
  return fail(parts_->no_tokenizer);
}

Result<PackedTokens> EmbeddingModel::tokenize(std::span<const std::string_view> texts) const {
  return as_result<Result<PackedTokens>>([&] { return tokenize_texts(texts); });
}

Result<PackedTokens> EmbeddingModel::tokenize_texts(std::span<const std::string_view> texts) const {
  CAPRA_TRY(has_tokenizer());
  const EncodeOptions encode{
      .max_tokens = parts_->limit.tokens,
      .truncate_left = parts_->config.truncate_left,
      .fail_on_overflow = parts_->options.on_overflow == Overflow::Fail,
      .strict_utf8 = parts_->options.strict_utf8,
  };
  std::vector<std::optional<Result<EncodedText>>> encoded(texts.size());
  parts_->pool->run(static_cast<int64_t>(texts.size()), [&](int64_t task, int) {
    const auto i = static_cast<size_t>(task);
    if (parts_->prompt.empty()) {
      encoded[i].emplace(parts_->tokenizer->encode(texts[i], encode));
    } else {
      encoded[i].emplace(parts_->tokenizer->encode(parts_->prompt + std::string(texts[i]), encode));
    }
  });
  PackedTokens packed;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!encoded[i]->ok()) {
      Diagnostic diagnostic = encoded[i]->error();
      diagnostic.at =
          "text " + number_text(i) + (diagnostic.at.empty() ? "" : ", " + diagnostic.at);
      return fail(std::move(diagnostic));
    }
    const EncodedText& text = **encoded[i];
    packed.ids.insert(packed.ids.end(), text.ids.begin(), text.ids.end());
    packed.offsets.push_back(static_cast<int64_t>(packed.ids.size()));
    packed.reports.push_back({static_cast<int64_t>(text.ids.size()), text.dropped, text.replaced});
  }
  return packed;
}

Status EmbeddingModel::embed(std::span<const std::string_view> texts, std::span<float> vectors,
                             std::span<TextReport> reports) const {
  CAPRA_ASSIGN(const PackedTokens packed, tokenize(texts));
  CAPRA_TRY(embed_tokens(packed, vectors));
  for (size_t i = 0; i < reports.size() && i < packed.reports.size(); ++i) {
    reports[i] = packed.reports[i];
  }
  return {};
}

Status EmbeddingModel::embed_tokens(const PackedTokens& packed, std::span<float> vectors) const {
  return as_result<Status>([&] {
    const auto sequences = static_cast<size_t>(packed.sequences());
    const std::vector<int64_t> prompt_tokens(parts_->prompt_size > 0 ? sequences : 0,
                                             parts_->prompt_size);
    return parts_->embed_packed(packed.ids, packed.offsets, vectors, prompt_tokens);
  });
}

Status EmbeddingModel::embed_ids(std::span<const int32_t> ids, std::span<const int64_t> offsets,
                                 std::span<float> vectors) const {
  return as_result<Status>([&] { return parts_->embed_packed(ids, offsets, vectors); });
}

std::vector<DescriptionLine> EmbeddingModel::describe() const {
  const Parts& parts = *parts_;
  std::vector<DescriptionLine> lines = parts.encoder->describe();
  std::string pooling;
  for (const Pooling one : parts.head.poolings()) {
    pooling += (pooling.empty() ? "" : " + ") + std::string(pooling_name(one));
  }
  lines.emplace_back("pooling", pooling);
  for (const SentenceHead::Step& step : parts.head.steps()) {
    if (const auto* dense = std::get_if<DenseStep>(&step)) {
      lines.emplace_back("dense", number_text(dense->in) + " to " + number_text(dense->out) +
                                      (dense->bias ? ", bias, " : ", no bias, ") +
                                      std::string(nn::activation_text(dense->activation)));
    }
  }
  lines.emplace_back("normalization", parts.head.normalizes() ? "L2" : "none");
  lines.emplace_back("dimension", number_text(dimension()));
  lines.emplace_back("length limit",
                     number_text(parts.limit.tokens) + " tokens, from " + parts.limit.source);
  for (const auto& [name, text] : parts.config.prompts) lines.emplace_back("prompt " + name, text);
  return lines;
}

}  // namespace capra
