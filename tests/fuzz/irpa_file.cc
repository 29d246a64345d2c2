// Any bytes as an archive of the IREE runtime: refused with a code, or every range lies in the
// file.
#include "capra/io/irpa_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto ranges = capra::read_irpa_ranges(bytes, "fuzz");
  if (!ranges.ok()) {
    CAPRA_CHECK(capra::find_diagnostic_code(ranges.error().code) != nullptr);
    return 0;
  }
  for (const auto& [key, range] : *ranges) {
    CAPRA_CHECK(key.size() <= size);
    CAPRA_CHECK(range.offset <= size && range.size <= size - range.offset);
  }
  return 0;
}
