// Reading the results of an outside judge.
#include "tools/capra/conformance.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "capra/ops/all_ops.h"

namespace capra::driver {
namespace {

Failure invalid(const std::string& found, const std::string& at) {
  return fail("conformance-invalid", found, at,
              R"(write "dtype": {"result": "passed"}, with "unsupported" and "expected_to_fail" a )"
              R"("reason", and what a pass leaves out as "except": ["reason"])");
}

// A text that is there and says something; null otherwise.
const std::string* text_of(const Json* value) {
  const std::string* text = value == nullptr ? nullptr : value->as_string();
  return text == nullptr || text->empty() ? nullptr : text;
}

// What a pass leaves out, as one text.
Result<std::string> exceptions_text(const Json& except, const std::string& at) {
  if (!except.is_array() || except.items().empty()) {
    return invalid("'except' is no list of reasons", at);
  }
  std::string joined;
  for (const Json& one : except.items()) {
    const std::string* text = text_of(&one);
    if (text == nullptr) return invalid("'except' has a reason that says nothing", at);
    joined += joined.empty() ? "except: " : "; ";
    joined += *text;
  }
  return joined;
}

// A row of conformance.json; fails with `conformance-invalid`.
Result<ConformanceResult> conformance_result(const std::string& dtype_text, const Json& row,
                                             const std::string& at) {
  const std::optional<DType> dtype = parse_dtype(dtype_text);
  if (!dtype) return invalid("there is no dtype '" + dtype_text + "'", at);
  for (const auto& [key, value] : row.members()) {
    if (key == "result" || key == "reason" || key == "except") continue;
    return invalid(fmt::format("a row of {} has no '{}'", dtype_text, key), at);
  }
  const std::string* result = text_of(row.find("result"));
  const std::string* reason = text_of(row.find("reason"));
  const Json* except = row.find("except");
  if (result == nullptr) return invalid("the row of " + dtype_text + " has no result", at);
  const bool passed = *result == "passed";
  if (!passed && *result != "unsupported" && *result != "expected_to_fail") {
    return invalid("there is no result '" + *result + "'", at);
  }
  if (!passed && reason == nullptr) return invalid(*result + " without a reason", at);
  if (!passed && except != nullptr) return invalid(*result + " with an 'except'", at);
  if (passed && row.find("reason") != nullptr) return invalid("passed with a reason", at);
  if (!passed) return ConformanceResult{*dtype, *result, *reason};
  std::string left_out;
  if (except != nullptr) {
    CAPRA_ASSIGN(left_out, exceptions_text(*except, at));
  }
  return ConformanceResult{*dtype, *result, std::move(left_out)};
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
    if (rows.members().empty()) return invalid("the op has no rows by dtype", at);
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
