// Any bytes as JSON: refused with a code, or what was read prints and reads back as the same text.
#include "capra/io/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = capra::Json::parse(text, "fuzz");
  if (!json.ok()) {
    CAPRA_CHECK(capra::find_diagnostic_code(json.error().code) != nullptr);
    return 0;
  }
  const std::string printed = json->text();
  const auto again = capra::Json::parse(printed);
  CAPRA_CHECK(again.ok() && again->text() == printed);
  const auto indented = capra::Json::parse(json->text(2));
  CAPRA_CHECK(indented.ok() && indented->text() == printed);
  for (const auto& [key, value] : json->members()) CAPRA_CHECK(json->find(key) == &value);
  return 0;
}
