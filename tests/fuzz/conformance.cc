// Any bytes as the results of a judge: refused with a code, or results of ops that exist.
#include "tools/capra/conformance.h"

#include "capra/base/diagnostic.h"
#include "capra/ops/all_ops.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = capra::Json::parse(text, "fuzz");
  if (!document.ok()) return 0;
  const auto read = capra::driver::parse_conformance(*document, "fuzz");
  if (!read.ok()) {
    CAPRA_CHECK(capra::find_diagnostic_code(read.error().code) != nullptr);
    return 0;
  }
  for (const auto& [op, results] : read->ops) {
    CAPRA_CHECK(capra::find_op(capra::all_ops(), op) != nullptr);
    CAPRA_CHECK(!results.empty());
    for (const auto& result : results) {
      CAPRA_CHECK(result.result == "passed" || !result.reason.empty());
    }
  }
  return 0;
}
