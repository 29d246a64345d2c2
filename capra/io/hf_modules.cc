// The files of the sentence-transformers layout, one function each: keys old and new, and what is
// refused.
#include <fmt/format.h>

#include <algorithm>

#include "capra/io/hf_config.h"

namespace capra {
namespace {

// The legacy booleans in the order in which sentence-transformers concatenates, and the newer
// words.
struct PoolingMode {
  std::string_view ours;
  std::string_view word;
  std::string_view flag;
};
constexpr PoolingMode kPoolingModes[] = {
    {"cls", "cls", "pooling_mode_cls_token"},
    {"max", "max", "pooling_mode_max_tokens"},
    {"mean", "mean", "pooling_mode_mean_tokens"},
    {"mean_sqrt_len", "mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens"},
    {"weighted_mean", "weightedmean", "pooling_mode_weightedmean_tokens"},
    {"last_token", "lasttoken", "pooling_mode_lasttoken"},
};

struct ActivationClass {
  std::string_view name;  // the class, whatever module of torch it is named through
  DenseActivation activation;
};
constexpr ActivationClass kActivations[] = {
    {"Identity", DenseActivation::Identity}, {"Tanh", DenseActivation::Tanh},
    {"ReLU", DenseActivation::Relu},         {"GELU", DenseActivation::GeluExact},
    {"SiLU", DenseActivation::Silu},         {"Sigmoid", DenseActivation::Sigmoid},
};

constexpr std::string_view kModuleKinds[] = {"Transformer", "Pooling", "Dense", "Normalize",
                                             "Dropout"};

Failure modules_failure(const std::string& what, const std::string& path) {
  return fail("modules-invalid", what, path, "get modules.json again");
}

// Inside the folder: relative, and no step upwards.
bool stays_inside(std::string_view path) {
  if (path.starts_with('/') || path.find_first_of(std::string_view("\\\0", 2)) != path.npos)
    return false;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    if (path.substr(0, end) == "..") return false;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return true;
}

Result<std::string> pooling_of_word(std::string_view word, const std::string& path) {
  const auto* found = std::ranges::find(kPoolingModes, word, &PoolingMode::word);
  if (found == std::end(kPoolingModes)) {
    std::string known;
    for (const PoolingMode& mode : kPoolingModes) known += fmt::format(" {}", mode.word);
    return fail("pooling-unknown",
                fmt::format("pooling_mode is {}, known:{}", Json(word).text(), known), path,
                "use a model with one of these");
  }
  return std::string(found->ours);
}

}  // namespace

Result<std::vector<ModuleEntry>> parse_modules(const Json& json, const std::string& path) {
  if (!json.is_array() || json.items().empty()) {
    return modules_failure(fmt::format("found {}, needed an array of modules",
                                       json.is_array() ? "an empty array" : json.kind_text()),
                           path);
  }
  std::vector<ModuleEntry> modules;
  int64_t last_index = -1;
  for (const Json& item : json.items()) {
    CAPRA_ASSIGN(const JsonFile module,
                 JsonFile::make(item, fmt::format("{}: module {}", path, modules.size())));
    CAPRA_ASSIGN(const std::string type, module.string("type"));
    CAPRA_ASSIGN(std::string folder, module.string("path"));
    CAPRA_ASSIGN(const int64_t index, module.integer_or("idx", last_index + 1, 0));
    if (index <= last_index) {
      return modules_failure(fmt::format("module {} comes after module {}", index, last_index),
                             path);
    }
    last_index = index;
    if (!stays_inside(folder)) {
      return modules_failure(
          fmt::format("the path {} leads out of the folder", Json(folder).text()), module.path());
    }
    const std::string kind = type.substr(type.rfind('.') + 1);
    if (!type.starts_with("sentence_transformers.") ||
        std::ranges::count(kModuleKinds, kind) == 0) {
      std::string known;
      for (const std::string_view name : kModuleKinds) known += fmt::format(" {}", name);
      return fail("module-unknown",
                  fmt::format("a module of type {}, known from sentence_transformers:{}",
                              Json(type).text(), known),
                  module.path(), "use a model made of these");
    }
    modules.push_back({kind, std::move(folder)});
  }
  return modules;
}

Status parse_pooling(const JsonFile& file, SentenceConfig& config) {
  const bool renamed = file.has("embedding_dimension");
  CAPRA_ASSIGN(
      config.pooled_size,
      file.integer(renamed ? "embedding_dimension" : "word_embedding_dimension", 1, 1 << 24));
  CAPRA_ASSIGN(config.include_prompt, file.boolean_or("include_prompt", true));

  // Keys of modes that are not known here must not be passed over.
  for (const auto& [key, value] : file.json().members()) {
    if (key.starts_with("pooling_mode_") && value.as_bool().value_or(true) &&
        std::ranges::count(kPoolingModes, key, &PoolingMode::flag) == 0) {
      return fail("pooling-unknown", fmt::format("the file asks for {}", Json(key).text()),
                  file.path(), "use a model with a known pooling");
    }
  }
  config.pooling.clear();
  if (const Json* mode = file.get("pooling_mode")) {
    if (!mode->is_string() && (!mode->is_array() || mode->items().empty())) {
      return file.wrong_type("pooling_mode", "a string or an array of strings");
    }
    const std::span<const Json> words = mode->is_string() ? std::span(mode, 1) : mode->items();
    for (const Json& word : words) {
      if (!word.is_string()) return file.wrong_type("pooling_mode", "strings");
      CAPRA_ASSIGN(std::string pooling, pooling_of_word(*word.as_string(), file.path()));
      config.pooling.push_back(std::move(pooling));
    }
    return {};
  }
  for (const PoolingMode& mode : kPoolingModes) {
    CAPRA_ASSIGN(const bool active, file.boolean_or(mode.flag, false));
    if (active) config.pooling.emplace_back(mode.ours);
  }
  if (config.pooling.empty()) {
    config.pooling = {"mean"};
    config.remarks.push_back(file.path() +
                             " names no pooling: mean, as sentence-transformers does");
  }
  return {};
}

Result<DenseModule> parse_dense(const JsonFile& file, std::string folder) {
  DenseModule dense;
  dense.folder = std::move(folder);
  CAPRA_ASSIGN(dense.in, file.integer("in_features", 1, 1 << 24));
  CAPRA_ASSIGN(dense.out, file.integer("out_features", 1, 1 << 24));
  CAPRA_ASSIGN(dense.bias, file.boolean_or("bias", true));
  CAPRA_ASSIGN(const bool residual, file.boolean_or("use_residual", false));
  if (residual) {
    return fail("module-option-unsupported", "use_residual is true, needed false", file.path(),
                "use a model without it");
  }
  for (const char* key : {"module_input_name", "module_output_name"}) {
    CAPRA_ASSIGN(const std::string name, file.string_or(key, "sentence_embedding"));
    if (name != "sentence_embedding") {
      return fail("module-option-unsupported",
                  fmt::format("{} is {}, needed sentence_embedding", key, Json(name).text()),
                  file.path(), "use a model whose Dense works on the sentence vector");
    }
  }
  CAPRA_ASSIGN(dense.activation_name, file.string_or("activation_function", ""));
  if (dense.activation_name.empty()) return dense;  // tanh, as sentence-transformers has it
  const std::string_view name = dense.activation_name;
  const auto* found =
      std::ranges::find(kActivations, name.substr(name.rfind('.') + 1), &ActivationClass::name);
  if (!name.starts_with("torch.nn.") || found == std::end(kActivations)) {
    std::string known;
    for (const ActivationClass& known_class : kActivations)
      known += fmt::format(" {}", known_class.name);
    return fail(
        "dense-activation-unknown",
        fmt::format("activation_function is {}, known from torch.nn:{}", Json(name).text(), known),
        file.path(), "use a model with one of these");
  }
  dense.activation = found->activation;
  return dense;
}

Status parse_sentence_limits(const JsonFile& file, SentenceConfig& config) {
  if (file.has("max_seq_length")) {
    CAPRA_ASSIGN(config.sentence_limit, file.integer("max_seq_length", 1));
  }
  CAPRA_ASSIGN(config.lower_case, file.boolean_or("do_lower_case", false));
  CAPRA_ASSIGN(const std::string task, file.string_or("transformer_task", "feature-extraction"));
  if (task != "feature-extraction") {
    return fail("module-option-unsupported",
                fmt::format("transformer_task is {}, needed feature-extraction", Json(task).text()),
                file.path(), "use a model whose encoder gives token vectors");
  }
  return {};
}

Status parse_tokenizer_limits(const JsonFile& file, SentenceConfig& config) {
  // "No limit" is written as a number near 1e30.
  constexpr double kNoLimit = 1e9;
  CAPRA_ASSIGN(const double length, file.number_or("model_max_length", kNoLimit, 1.0));
  if (length < kNoLimit) config.tokenizer_limit = static_cast<int64_t>(length);
  CAPRA_ASSIGN(const std::string side, file.string_or("truncation_side", "right"));
  if (side != "left" && side != "right")
    return file.out_of_range("truncation_side", "left or right");
  config.truncate_left = side == "left";
  return {};
}

Status parse_prompts(const JsonFile& file, SentenceConfig& config) {
  CAPRA_ASSIGN(const std::string type, file.string_or("model_type", "SentenceTransformer"));
  if (type != "SentenceTransformer") {
    return fail("module-option-unsupported",
                fmt::format("model_type is {}, needed SentenceTransformer", Json(type).text()),
                file.path(), "use a model that gives one vector a text");
  }
  CAPRA_ASSIGN(config.similarity, file.string_or("similarity_fn_name", ""));
  if (const Json* prompts = file.get("prompts")) {
    if (!prompts->is_object()) return file.wrong_type("prompts", "an object of strings");
    for (const auto& [name, prompt] : prompts->members()) {
      if (!prompt.is_string() && !prompt.is_null()) {
        return file.wrong_type("prompts", fmt::format("a string for {}", Json(name).text()));
      }
      config.prompts.emplace(name, prompt.is_null() ? "" : *prompt.as_string());
    }
  }
  if (file.has("default_prompt_name")) {
    CAPRA_ASSIGN(config.default_prompt, file.string("default_prompt_name"));
    if (!config.prompts.contains(*config.default_prompt)) {
      return file.out_of_range("default_prompt_name", "the name of one of the prompts");
    }
  }
  return {};
}

std::string_view dense_activation_text(DenseActivation activation) {
  constexpr std::string_view kTexts[] = {"identity",          "tanh", "relu",
                                         "gelu (exact, erf)", "silu", "sigmoid"};
  return kTexts[static_cast<size_t>(activation)];
}

}  // namespace capra
