// capra inspect: what a folder declares and what will run.
#include <fmt/format.h>

#include <algorithm>

#include "capra/io/json.h"
#include "models/embedding_parts.h"
#include "tools/capra/command.h"
#include "tools/capra/output.h"

namespace capra::driver {
namespace {

Json names_json(const std::vector<std::string>& names) {
  Json array = Json::array();
  for (const std::string& name : names) array.push(name);
  return array;
}

void list_names(std::string& text, std::string_view title, const std::vector<std::string>& names) {
  text += fmt::format("{:<20} {}\n", title, names.size());
  for (const std::string& name : names) text += fmt::format("  {}\n", name);
}

}  // namespace

Result<int> run_inspect(const InspectOptions& options) {
  CAPRA_ASSIGN(const EmbeddingModel model, EmbeddingModel::load(options.model, options.embedding));
  const EmbeddingModel::Parts& parts = model.parts();
  std::vector<DescriptionLine> lines = model.describe();
  const Availability availability = parts.target->availability();
  lines.emplace_back("target", fmt::format("{} ({})", parts.target->name, availability.detail));
  lines.emplace_back("threads", std::to_string(model.threads()));

  if (options.json) {
    Json document = Json::object();
    Json description = Json::object();
    for (const auto& [name, value] : lines) description.set(name, value);
    document.set("model", options.model);
    document.set("description", std::move(description));
    document.set("tokenizer", parts.tokenizer ? parts.tokenizer->description() : Json());
    document.set("tensors_used", names_json(parts.weights.used));
    document.set("tensors_unused", names_json([&] {
                   std::vector<std::string> all = parts.weights.known_unused;
                   all.insert(all.end(), parts.weights.unused.begin(), parts.weights.unused.end());
                   std::ranges::sort(all);
                   return all;
                 }()));
    document.set("tensors_missing", Json::array());
    document.set("remarks", names_json(model.remarks()));
    CAPRA_TRY(print_result(document.text(2) + "\n"));
    return kDone;
  }

  std::string text = options.model + "\n";
  for (const auto& [name, value] : lines) text += fmt::format("{:<20} {}\n", name, value);
  if (parts.tokenizer) {
    for (const auto& [name, value] : parts.tokenizer->description().members()) {
      const std::string* plain = value.as_string();
      text +=
          fmt::format("{:<20} {}\n", "tokenizer " + name, plain != nullptr ? *plain : value.text());
    }
  } else {
    text += fmt::format("{:<20} none: {}\n", "tokenizer", parts.no_tokenizer.message);
  }
  text += fmt::format("{:<20} {}\n", "tensors used", parts.weights.used.size());
  text += fmt::format("{:<20} {}\n", "tensors missing", 0);
  list_names(text, "known, not used", parts.weights.known_unused);
  list_names(text, "unknown, not used", parts.weights.unused);
  for (const std::string& remark : model.remarks()) text += "note: " + remark + "\n";
  CAPRA_TRY(print_result(text));
  return kDone;
}

}  // namespace capra::driver
