// Our paths read as the checkpoint's, part by part.
#include "models/bert/bert_names.h"

#include <array>
#include <utility>

namespace capra {
namespace {

// A part of a path, and what the checkpoint calls it. The first that occurs is used.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kParts = {{
    {"embeddings.word.", "embeddings.word_embeddings."},
    {"embeddings.position.", "embeddings.position_embeddings."},
    {"embeddings.token_type.", "embeddings.token_type_embeddings."},
    {"embeddings.norm.", "embeddings.LayerNorm."},
    {"attention.query.", "attention.self.query."},
    {"attention.key.", "attention.self.key."},
    {"attention.value.", "attention.self.value."},
    {"attention.output.", "attention.output.dense."},
    {"attention.norm.", "attention.output.LayerNorm."},
    {"feed_forward.up.", "intermediate.dense."},
    {"feed_forward.down.", "output.dense."},
    {"feed_forward.norm.", "output.LayerNorm."},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kLegacy = {{
    {"LayerNorm.weight", "LayerNorm.gamma"},
    {"LayerNorm.bias", "LayerNorm.beta"},
}};

constexpr std::string_view kPrefixes[] = {"", "bert."};

bool replace(std::string& text, std::pair<std::string_view, std::string_view> part) {
  const size_t at = text.find(part.first);
  if (at == std::string::npos) return false;
  text.replace(at, part.first.size(), part.second);
  return true;
}

}  // namespace

std::vector<std::string> bert_checkpoint_names(std::string_view parameter_path) {
  std::string name(parameter_path);
  for (const auto& part : kParts) {
    if (replace(name, part)) break;
  }

  std::vector<std::string> spellings = {name};
  for (const auto& part : kLegacy) {
    std::string legacy = name;
    if (replace(legacy, part)) spellings.push_back(std::move(legacy));
  }
  std::vector<std::string> names;
  for (const std::string& spelling : spellings) {
    for (const std::string_view prefix : kPrefixes) names.push_back(std::string(prefix) + spelling);
  }
  return names;
}

bool bert_known_unused(std::string_view name) {
  if (name.starts_with("bert.")) name.remove_prefix(5);
  return name == "embeddings.position_ids" || name.starts_with("pooler.") ||
         name.starts_with("cls.");
}

}  // namespace capra
