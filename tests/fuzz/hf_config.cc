// Any JSON as one of the files of a model folder; the first byte says which. Refused with a code,
// or sane.
#include "capra/io/hf_config.h"

namespace {

void check(const capra::Status& status) {
  if (!status.ok()) CAPRA_CHECK(capra::find_diagnostic_code(status.error().code) != nullptr);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 'm') {
    const auto json = capra::Json::parse(text);
    if (!json.ok()) return 0;
    const auto modules = capra::parse_modules(*json, "fuzz");
    if (!modules.ok()) {
      CAPRA_CHECK(capra::find_diagnostic_code(modules.error().code) != nullptr);
      return 0;
    }
    for (const auto& module : *modules) {
      CAPRA_CHECK(!module.path.starts_with('/') &&
                  ("/" + module.path + "/").find("/../") == std::string::npos);
    }
    return 0;
  }
  const auto file = capra::JsonFile::parse(text, "fuzz");
  if (!file.ok()) return 0;
  capra::SentenceConfig config;
  switch (data[0]) {
    case 'p': {
      const auto status = capra::parse_pooling(*file, config);
      check(status);
      CAPRA_CHECK(!status.ok() || (!config.pooling.empty() && config.pooled_size > 0));
      break;
    }
    case 'd': {
      const auto dense = capra::parse_dense(*file, "fuzz");
      CAPRA_CHECK(!dense.ok() || (dense->in > 0 && dense->out > 0));
      break;
    }
    case 's':
      check(capra::parse_sentence_limits(*file, config));
      break;
    case 't':
      check(capra::parse_tokenizer_limits(*file, config));
      break;
    case 'c':
      check(capra::parse_prompts(*file, config));
      break;
    default:
      break;
  }
  CAPRA_CHECK(capra::token_limit(config, 512).tokens >= 1);
  return 0;
}
