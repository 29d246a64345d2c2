// Tables for people, and one document for scripts.
#include "tools/capra/verify_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "capra/base/number_text.h"
#include "capra/passes/gelu_tanh.h"

namespace capra::driver {
namespace {

// One line for all nodes that were rewritten alike.
struct ApproximationGroup {
  Approximation first;
  int64_t nodes = 0;
};

std::vector<ApproximationGroup> grouped(const std::vector<Approximation>& approximations) {
  std::vector<ApproximationGroup> groups;
  const auto alike = [](const Approximation& a, const Approximation& b) {
    return a.legalized_from == b.legalized_from && a.legalized_to == b.legalized_to &&
           a.reason == b.reason && a.max_abs_error == b.max_abs_error &&
           a.max_rel_error == b.max_rel_error;
  };
  for (const Approximation& one : approximations) {
    const auto found = std::ranges::find_if(
        groups, [&](const ApproximationGroup& group) { return alike(group.first, one); });
    if (found == groups.end()) {
      groups.push_back({one, 1});
    } else {
      ++found->nodes;
    }
  }
  return groups;
}

// `largest error of one activation 4.8E-4`, or the relative one where that is what is known.
std::string error_text(const Approximation& one) {
  std::string text;
  if (one.max_abs_error > 0 || one.max_rel_error == 0) {
    text = "largest error of one activation " + exponent_text(one.max_abs_error);
  }
  if (one.max_rel_error > 0) {
    text += fmt::format("{}largest relative error of one rounded value {}",
                        text.empty() ? "" : ", ", exponent_text(one.max_rel_error));
  }
  return text;
}

std::string approximation_line(const ApproximationGroup& group) {
  const Approximation& one = group.first;
  const std::string where = group.nodes == 1
                                ? "1 node (" + one.node + ")"
                                : fmt::format("{} nodes ({}, ...)", group.nodes, one.node);
  return fmt::format("{} -> {} on {}, {} [{}]", one.legalized_from, one.legalized_to, where,
                     error_text(one), one.reason);
}

// A folder's own name, without the way to it.
std::string model_name(const std::string& folder) {
  const std::filesystem::path path(folder);
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

std::string equality_text(int64_t differing, std::string_view what) {
  return differing == 0 ? "bit-equal" : fmt::format("{}{} differ", differing, what);
}

std::string stages_text(const Verification& result) {
  std::string text = fmt::format("{:<20} {:>14} {:>6}", "stage", "max abs error", "text");
  text += result.is_program ? "\n" : fmt::format(" {:>18}\n", "eager = optimized");
  for (const StageResult& stage : result.stages) {
    text +=
        fmt::format("{:<20} {:>14.3g} {:>6}", stage.stage, stage.max_abs_error, stage.worst_text);
    text += result.is_program ? "\n"
                              : fmt::format(" {:>18}\n", equality_text(stage.differing_values, ""));
  }
  if (result.is_program) return text;
  return text + fmt::format("alone = in a batch: {}\n",
                            equality_text(result.batch_differing_values, " values"));
}

// `4.8e-4 or 4 ulp (of what it is relative to)`, `0.0039 relative`.
std::string bound_text(const BudgetPart& part) {
  const Accuracy& bound = part.bound;
  std::string text = bound.max_abs > 0 ? fmt::format("{:.2g}", bound.max_abs) : "";
  if (bound.max_ulp > 0) {
    text += fmt::format("{}{} ulp", text.empty() ? "" : " or ", number_text(bound.max_ulp));
  }
  if (bound.max_ulp_per_term > 0)
    text += fmt::format(" + {} a term", number_text(bound.max_ulp_per_term));
  if (text.empty() && part.max_rel > 0) return fmt::format("{:.2g} relative", part.max_rel);
  return text.empty() ? "none" : text;
}

std::string budget_text(const ErrorBudget& budget, const Verification& result) {
  std::string text = "error budget: largest change of a vector by each approximation alone\n";
  text += fmt::format("  {:<13} {:<14} {:>6} {:>18} {:>11}  {}\n", "kind", "approximation", "nodes",
                      "bound of one op", "vectors", "measured in");
  for (const BudgetPart& part : budget.parts) {
    const std::string effect = part.is_measured ? fmt::format("{:.3g}", part.effect) : "unknown";
    text += fmt::format("  {:<13} {:<14} {:>6} {:>18} {:>11}  {}\n", budget_kind_name(part.kind),
                        part.name, part.nodes, bound_text(part), effect, part.measured);
  }
  text += fmt::format("  {:<54} {:>11.3g}\n", "sum of these", budget.sum);
  text +=
      fmt::format("  {:<54} {:>11.3g}  {} against the oracle, with every rounding between ops\n",
                  "all together", result.vector_error, result.target);
  return text;
}

Json budget_json(const ErrorBudget& budget, const Verification& result) {
  Json parts = Json::array();
  for (const BudgetPart& part : budget.parts) {
    Json row = Json::object();
    row.set("kind", budget_kind_name(part.kind)).set("name", part.name).set("nodes", part.nodes);
    row.set("max_abs", part.bound.max_abs).set("max_ulp", part.bound.max_ulp);
    row.set("max_ulp_per_term", part.bound.max_ulp_per_term);
    row.set("max_rel", part.max_rel);
    row.set("note", part.bound.note).set("reason", part.reason);
    row.set("error", part.is_measured ? Json(part.effect) : Json());
    row.set("measured", part.measured);
    parts.push(std::move(row));
  }
  Json document = Json::object();
  document.set("parts", std::move(parts)).set("sum", budget.sum);
  document.set("together", result.vector_error);
  return document;
}

}  // namespace

std::string report_text(const VerifyReport& report) {
  const auto& [options, result, tokens, budget, verdict] = report;
  std::string text = fmt::format("{} on {}: {} texts, {} tokens\n", model_name(options.model),
                                 result.target, result.texts, result.tokens);
  text += stages_text(result);
  if (tokens.declared > 0) {
    text += fmt::format("token ids: {} of {} rows equal the file's\n",
                        tokens.declared - static_cast<int64_t>(tokens.differing.size()),
                        tokens.declared);
  }
  if (!result.references.empty()) {
    text += fmt::format("against {}\n{:<28} {:>14} {:>14} {:>14}\n", options.against, "  values",
                        result.target, "oracle", "median row");
    for (const ReferenceResult& row : result.references) {
      text += fmt::format("  {:<26} {:>14.3g} {:>14.3g}", row.name, row.optimized_error,
                          row.oracle_error);
      text += row.median_row_error > 0 ? fmt::format(" {:>14.3g}\n", row.median_row_error) : "\n";
    }
  }
  for (const std::string& name : result.unmatched) {
    text += fmt::format("  {}: names nothing here, not compared\n", name);
  }
  if (budget != nullptr) text += budget_text(*budget, result);
  for (const std::string& failure : verdict.failures) text += "FAILED: " + failure + "\n";
  text += fmt::format(
      "parity: vectors within {:.3g} of double precision (gate {:.3g}), median row "
      "{:.3g}: {}\n",
      verdict.error, verdict.gate, result.median_vector_error,
      verdict.failures.empty() ? "passed" : "failed");
  if (result.approximations.empty()) return text + "approximations in force: none\n";
  text += fmt::format("approximations in force: {}\n", result.approximations.size());
  for (const ApproximationGroup& group : grouped(result.approximations)) {
    text += "  " + approximation_line(group) + "\n";
  }
  return text;
}

Json report_json(const VerifyReport& report) {
  const auto& [options, result, tokens, budget, verdict] = report;
  Json document = Json::object();
  document.set("model", options.model).set("target", result.target);
  document.set("texts", result.texts).set("tokens", result.tokens);
  document.set("passed", verdict.failures.empty());
  document.set("max_error", verdict.gate).set("error", verdict.error);
  document.set("median_error", result.median_vector_error);
  // Null: nothing of the kind was compared.
  const auto unless_program = [&](int64_t count) {
    return result.is_program ? Json() : Json(count);
  };
  document.set("differing_values", unless_program(result.differing_values));
  document.set("vectors_not_finite", result.vectors_not_finite);
  document.set("batch_differing_values", unless_program(result.batch_differing_values));
  document.set("token_rows_declared", tokens.declared);
  document.set("token_rows_differing", static_cast<int64_t>(tokens.differing.size()));
  Json stages = Json::array();
  for (const StageResult& stage : result.stages) {
    Json row = Json::object();
    row.set("stage", stage.stage).set("max_abs_error", stage.max_abs_error);
    row.set("worst_text", stage.worst_text).set("eager_difference", stage.eager_difference);
    row.set("differing_values", stage.differing_values);
    stages.push(std::move(row));
  }
  document.set("stages", std::move(stages));
  Json references = Json::array();
  for (const ReferenceResult& reference : result.references) {
    Json row = Json::object();
    row.set("name", reference.name).set("error", reference.optimized_error);
    row.set("oracle_error", reference.oracle_error);
    if (reference.name == "embeddings") row.set("median_error", reference.median_row_error);
    references.push(std::move(row));
  }
  document.set("references", std::move(references));
  document.set("budget", budget == nullptr ? Json() : budget_json(*budget, result));
  Json failures = Json::array();
  for (const std::string& failure : verdict.failures) failures.push(failure);
  document.set("failures", std::move(failures));
  Json approximations = Json::array();
  for (const Approximation& one : result.approximations) {
    Json row = Json::object();
    row.set("node", one.node).set("legalizedFrom", one.legalized_from);
    row.set("legalizedTo", one.legalized_to);
    row.set("reason", one.reason).set("maxAbsError", one.max_abs_error);
    row.set("maxRelError", one.max_rel_error);
    approximations.push(std::move(row));
  }
  document.set("approximations", std::move(approximations));
  return document;
}

}  // namespace capra::driver
