// Reading the results of an outside judge.
#include "tools/capra/conformance.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "capra/ops/all_ops.h"

namespace capra::driver {
namespace {

// A row of conformance.json; fails with `conformance-invalid`.
Result<ConformanceResult> conformance_result(const std::string& dtype_text, const Json& row,
                                             const std::string& at) {
  const auto invalid = [&](const std::string& found) {
    return fail(
        "conformance-invalid", found, at,
        R"(write "dtype": {"result": "passed"}, with "unsupported" and "expected_to_fail" a )"
        R"("reason", and what a pass leaves out as "except": ["reason"])");
  };
  const auto text_of = [](const Json* value) {
    const std::string* text = value == nullptr ? nullptr : value->as_string();
    return text == nullptr ? std::string() : *text;
  };
  const std::optional<DType> dtype = parse_dtype(dtype_text);
  if (!dtype) return invalid("there is no dtype '" + dtype_text + "'");
  ConformanceResult result{*dtype, text_of(row.find("result")), text_of(row.find("reason"))};
  const bool passed = result.result == "passed";
  if (!passed && result.result != "unsupported" && result.result != "expected_to_fail") {
    return invalid("there is no result '" + result.result + "'");
  }
  if (!passed && result.reason.empty()) return invalid(result.result + " without a reason");
  if (const Json* except = row.find("except")) {
    for (const Json& one : except->items()) {
      result.reason += (result.reason.empty() ? "except: " : "; ") + text_of(&one);
    }
  }
  return result;
}

}  // namespace

Result<Conformance> parse_conformance(const Json& document, const std::string& path) {
  const Json* judge = document.find("judge");
  const Json* ops = document.find("ops");
  if (judge == nullptr || judge->as_string() == nullptr || ops == nullptr || !ops->is_object()) {
    return fail("conformance-invalid", "the document has no judge or no ops", path,
                R"(write {"judge": "...", "ops": {"add": {"f32": {"result": "passed"}}}})");
  }
  Conformance conformance;
  conformance.judge = *judge->as_string();
  for (const auto& [op, rows] : ops->members()) {
    if (find_op(all_ops(), op) == nullptr) {
      return fail("conformance-invalid", "there is no op '" + op + "'", path,
                  "'capra ops' lists them all");
    }
    std::vector<ConformanceResult>& results = conformance.ops[op];
    const std::string at = fmt::format("{}: {}", path, op);
    for (const auto& [dtype, row] : rows.members()) {
      CAPRA_ASSIGN(ConformanceResult result, conformance_result(dtype, row, at));
      results.push_back(std::move(result));
    }
    std::ranges::sort(results, {}, &ConformanceResult::dtype);
  }
  return conformance;
}

Result<Conformance> read_conformance(const std::string& path) {
  CAPRA_ASSIGN(const Json document, read_json_file(path));
  return parse_conformance(document, path);
}

}  // namespace capra::driver
