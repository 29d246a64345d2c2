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

std::string plain(const Json* value) {
  if (value == nullptr || value->is_null()) return "none";
  return value->as_string() != nullptr ? *value->as_string() : value->text();
}

// `[CLS] A [SEP]` from a list of template pieces, [{"SpecialToken": {"id": "[CLS]"}}, ...].
std::string template_text(std::span<const Json> pieces) {
  std::string text;
  for (const Json& piece : pieces) {
    for (const auto& [kind, what] : piece.members()) {
      text += (text.empty() ? "" : " ") + plain(what.find("id"));
    }
  }
  return text;
}

// A step of the tokenizer: its type, then the fields that hold a plain value.
std::string step_text(const Json* step) {
  if (step == nullptr || step->is_null()) return "none";
  std::string text = plain(step->find("type"));
  // A sequence names its steps in a list; a template says its own in `single`.
  for (const char* list : {"normalizers", "pretokenizers", "processors"}) {
    const Json* steps = step->find(list);
    if (steps == nullptr) continue;
    std::string joined;
    for (const Json& one : steps->items()) {
      joined += (joined.empty() ? "" : ", then ") + step_text(&one);
    }
    return joined;
  }
  if (const Json* single = step->find("single"); single != nullptr) {
    return template_text(single->items()) + ", pairs " +
           template_text(step->find("pair") != nullptr ? step->find("pair")->items()
                                                       : std::span<const Json>());
  }
  std::string fields;
  for (const auto& [name, value] : step->members()) {
    if (name == "type" || value.is_array() || value.is_object()) continue;
    constexpr size_t kLongest = 40;  // a character map is no reading matter
    const std::string* string = value.as_string();
    if (string != nullptr && string->size() > kLongest) continue;
    fields += (fields.empty() ? "" : ", ") + name + " " + value.text();
  }
  return fields.empty() ? text : text + " (" + fields + ")";
}

// What tokenizer.json asks for and this program does itself.
std::string declared_text(const Json* declared, std::string_view number) {
  if (declared == nullptr || declared->is_null()) return "none";
  const Json* value = declared->find(number);
  if (const Json* strategy = declared->find("strategy"); value == nullptr && strategy != nullptr) {
    value = strategy->find("Fixed");
    if (value == nullptr) return "to the longest, switched off";
    return "to " + value->text() + ", switched off";
  }
  return plain(value) + ", switched off";
}

std::vector<DescriptionLine> tokenizer_lines(const Json& description) {
  const auto text = [&](std::string_view name) { return plain(description.find(name)); };
  const Json* changed = description.find("normalizer_changed");
  std::vector<DescriptionLine> lines = {
      {"tokenizer", fmt::format("{}, {} tokens, {} of them added", text("model"),
                                text("vocabulary_size"), text("added_tokens"))},
      {"  normalizer", step_text(description.find("normalizer"))},
      {"  pre-tokenizer", step_text(description.find("pre_tokenizer"))},
      {"  post-processor", step_text(description.find("post_processor"))},
      {"  truncation", declared_text(description.find("declared_truncation"), "max_length")},
      {"  padding", declared_text(description.find("declared_padding"), "max_length")},
  };
  if (changed != nullptr && changed->as_bool().value_or(false)) {
    lines[1].second += ", changed by tokenizer_config.json";
  }
  return lines;
}

}  // namespace

Result<int> run_inspect(const InspectOptions& options) {
  EmbeddingOptions embedding = options.embedding;
  embedding.compile = false;
  CAPRA_ASSIGN(const EmbeddingModel model, EmbeddingModel::load(options.model, embedding));
  const EmbeddingModel::Parts& parts = model.parts();
  std::vector<DescriptionLine> lines = model.describe();
  const Availability availability = availability_of(*parts.target);
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
    // A model that lacks a tensor does not load: the diagnostic above lists what is missing.
    document.set("tensors_missing", Json::array());
    document.set("remarks", names_json(model.remarks()));
    CAPRA_TRY(print_result(document.text(2) + "\n"));
    return kDone;
  }

  std::string text = options.model + "\n";
  for (const auto& [name, value] : lines) text += fmt::format("{:<20} {}\n", name, value);
  if (parts.tokenizer) {
    for (const auto& [name, value] : tokenizer_lines(parts.tokenizer->description())) {
      text += fmt::format("{:<20} {}\n", name, value);
    }
  } else {
    text += fmt::format("{:<20} none: {}\n", "tokenizer", parts.no_tokenizer.message);
  }
  text += fmt::format("{:<20} {}, none missing\n", "tensors used", parts.weights.used.size());
  list_names(text, "known, not used", parts.weights.known_unused);
  list_names(text, "unknown, not used", parts.weights.unused);
  for (const std::string& remark : model.remarks()) text += "note: " + remark + "\n";
  CAPRA_TRY(print_result(text));
  return kDone;
}

}  // namespace capra::driver
