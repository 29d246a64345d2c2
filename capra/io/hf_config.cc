// A folder's files put together: which module follows which, and what an absent file means.
#include "capra/io/hf_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "capra/base/buffer.h"

namespace capra {
namespace {

std::string joined(const std::string& folder, const std::string& path) {
  return path.empty() ? folder : folder + "/" + path;
}

Failure order_failure(const std::string& what, const std::string& path) {
  return fail("module-order", what, path,
              "needed: Transformer, then Pooling, then any number of Dense and Normalize");
}

// Reads `folder/name` into the config if the file is there.
Status read_optional(const std::string& folder, const char* name, SentenceConfig& config,
                     Status (*parse)(const JsonFile&, SentenceConfig&)) {
  const std::string path = folder + "/" + name;
  if (!file_exists(path)) return {};
  CAPRA_ASSIGN(const JsonFile file, JsonFile::open(path));
  return parse(file, config);
}

// Normalize has no settings of its own that change anything here; newer files name what it works
// on.
Status check_normalize(const std::string& folder) {
  const std::string path = folder + "/config.json";
  if (!file_exists(path)) return {};
  CAPRA_ASSIGN(const JsonFile file, JsonFile::open(path));
  for (const char* key : {"module_input_name", "module_output_name"}) {
    CAPRA_ASSIGN(const std::string name, file.string_or(key, "sentence_embedding"));
    if (name != "sentence_embedding") {
      return fail("module-option-unsupported",
                  fmt::format("{} is {}, needed sentence_embedding", key, Json(name).text()), path,
                  "use a model that normalizes the sentence vector");
    }
  }
  return {};
}

Status add_module(const ModuleEntry& module, const std::string& modules_path,
                  SentenceConfig& config) {
  const std::string folder = joined(config.folder, module.path);
  const bool has_transformer = !config.transformer_folder.empty();
  const bool has_pooling = !config.pooling.empty();
  if (module.kind == "Transformer") {
    if (has_transformer) return order_failure("a second Transformer", modules_path);
    config.transformer_folder = folder;
    return {};
  }
  if (!has_transformer) {
    return order_failure(fmt::format("{} stands before the Transformer", module.kind),
                         modules_path);
  }
  if (module.kind == "Dropout") return {};  // does nothing outside training
  if (module.kind == "Pooling") {
    if (has_pooling) return order_failure("a second Pooling", modules_path);
    CAPRA_ASSIGN(const JsonFile file, JsonFile::open(folder + "/config.json"));
    return parse_pooling(file, config);
  }
  if (!has_pooling) {
    return order_failure(fmt::format("{} stands before the Pooling", module.kind), modules_path);
  }
  if (module.kind == "Normalize") {
    CAPRA_TRY(check_normalize(folder));
    config.head.emplace_back(std::in_place_type<NormalizeModule>);
    return {};
  }
  CAPRA_ASSIGN(const JsonFile file, JsonFile::open(folder + "/config.json"));
  CAPRA_ASSIGN(DenseModule dense, parse_dense(file, folder));
  const int64_t before = sentence_dimension(config, config.pooled_size);
  if (dense.in != before) {
    return fail("dense-shape",
                fmt::format("in_features is {}, and what comes before it gives {} numbers",
                            dense.in, before),
                file.path(), "get the module's files again");
  }
  config.head.emplace_back(std::in_place_type<DenseModule>, std::move(dense));
  return {};
}

}  // namespace

Result<ModelConfig> ModelConfig::open_folder(const std::string& folder) {
  const std::string path = folder + "/config.json";
  if (!file_exists(folder)) {
    return fail("file-not-found", "no such folder", folder, "check the path");
  }
  if (!file_exists(path)) {
    return fail("config-missing", "there is no config.json", folder,
                "give a folder with a Hugging Face model");
  }
  CAPRA_ASSIGN(JsonFile file, JsonFile::open(path));
  ModelConfig config;
  static_cast<JsonFile&>(config) = std::move(file);
  return config;
}

Result<ModelConfig> ModelConfig::parse(std::string_view text, std::string path) {
  CAPRA_ASSIGN(JsonFile file, JsonFile::parse(text, std::move(path)));
  ModelConfig config;
  static_cast<JsonFile&>(config) = std::move(file);
  return config;
}

Result<SentenceConfig> read_sentence_config(const std::string& folder) {
  SentenceConfig config;
  config.folder = folder;
  const std::string modules_path = folder + "/modules.json";
  config.declared = file_exists(modules_path);
  if (config.declared) {
    CAPRA_ASSIGN(const Json json, read_json_file(modules_path));
    CAPRA_ASSIGN(const auto modules, parse_modules(json, modules_path));
    for (const ModuleEntry& module : modules) {
      CAPRA_TRY(add_module(module, modules_path, config));
    }
    if (config.transformer_folder.empty()) return order_failure("no Transformer", modules_path);
    if (config.pooling.empty()) return order_failure("no Pooling", modules_path);
  } else {
    if (!file_exists(folder))
      return fail("file-not-found", "no such folder", folder, "check the path");
    config.transformer_folder = folder;
    config.pooling = {"mean"};
    config.remarks.emplace_back(
        "there is no modules.json: mean pooling without normalization, as sentence-transformers "
        "does");
  }

  // Older folders name the file after the family.
  for (const char* name : {"sentence_bert_config.json", "sentence_roberta_config.json",
                           "sentence_distilbert_config.json", "sentence_camembert_config.json",
                           "sentence_albert_config.json", "sentence_xlm-roberta_config.json",
                           "sentence_xlnet_config.json"}) {
    if (!file_exists(config.transformer_folder + "/" + name)) continue;
    config.sentence_file = name;
    CAPRA_TRY(read_optional(config.transformer_folder, name, config, parse_sentence_limits));
    break;
  }
  CAPRA_TRY(read_optional(config.transformer_folder, "tokenizer_config.json", config,
                          parse_tokenizer_limits));
  CAPRA_TRY(read_optional(folder, "config_sentence_transformers.json", config, parse_prompts));
  return config;
}

int64_t sentence_dimension(const SentenceConfig& config, int64_t hidden_size) {
  int64_t dimension = hidden_size * static_cast<int64_t>(config.pooling.size());
  for (const HeadModule& module : config.head) {
    if (const auto* dense = std::get_if<DenseModule>(&module)) dimension = dense->out;
  }
  return dimension;
}

TokenLimit token_limit(const SentenceConfig& config, int64_t positions) {
  TokenLimit limit{positions, "positions"};
  if (config.sentence_limit) {
    if (*config.sentence_limit < positions) {
      limit = {*config.sentence_limit, config.sentence_file};
    }
  } else if (config.tokenizer_limit && *config.tokenizer_limit < positions) {
    limit = {*config.tokenizer_limit, "tokenizer_config.json"};
  }
  return limit;
}

}  // namespace capra
