// Any bytes as the side file of an archive: refused with a code, or written again as it was read.
#include "capra/io/archive_index.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto index = capra::parse_archive_index(text, "fuzz");
  if (!index.ok()) {
    CAPRA_CHECK(capra::find_diagnostic_code(index.error().code) != nullptr);
    return 0;
  }
  const auto again = capra::parse_archive_index(capra::archive_index_text(*index), "again");
  CAPRA_CHECK(again.ok() && again->archive == index->archive &&
              again->parameters == index->parameters);
  return 0;
}
