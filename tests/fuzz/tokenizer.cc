// A tokenizer.json, then after a zero byte a text: a bad file or text gets a code, and a cut keeps
// its limit.
#include "capra/io/tokenizer.h"

#include <algorithm>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t split = std::min(input.find('\0'), input.size());
  const std::string_view text = input.substr(std::min(split + 1, input.size()));
  const auto tokenizer = capra::Tokenizer::parse(input.substr(0, split), "fuzz");
  if (!tokenizer.ok()) {
    CAPRA_CHECK(capra::find_diagnostic_code(tokenizer.error().code) != nullptr);
    return 0;
  }
  const auto whole = tokenizer->encode(text);
  const auto cut = tokenizer->encode(text, {.max_tokens = 4});
  if (whole.ok() && cut.ok()) CAPRA_CHECK(cut->ids.size() <= whole->ids.size());
  for (const auto* encoded : {&whole, &cut}) {
    if (!encoded->ok()) CAPRA_CHECK(capra::find_diagnostic_code(encoded->error().code) != nullptr);
  }
  return 0;
}
