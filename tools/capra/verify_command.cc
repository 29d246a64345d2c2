// capra verify: the proof of parity, printed.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "capra/base/number_text.h"
#include "capra/io/json_file.h"
#include "capra/passes/gelu_tanh.h"
#include "models/embedding_parts.h"
#include "models/verify.h"
#include "tools/capra/command.h"
#include "tools/capra/output.h"
#include "tools/capra/progress.h"
#include "tools/capra/text_input.h"

namespace capra::driver {
namespace {

// On normalized vectors. IREE and its like have their own when they come.
constexpr double kDefaultGate = 1e-6;

// What is run without --texts: lengths from empty to long, and characters that tokenizers differ
// on.
constexpr std::string_view kBuiltInTexts[] = {
    "",
    "goat",
    "The goat climbs the rocks above the village.",
    "How do I return a library book after the desk has closed?",
    "Zażółć gęślą jaźń; naïve café, 2 000 €.",
    "山羊が岩を登る。",
    "def norm(v): return sum(x * x for x in v) ** 0.5  # L2",
    R"(Nobody had expected the river to rise so quickly in a single night, and by the time the bells of
the lower town began to ring, the mill, the two bridges and most of the road along the bank were already
under water.)",
};

struct VerifyTexts {
  std::vector<std::string> texts;
  std::vector<std::vector<int32_t>> declared;  ///< token ids the file gives; empty: none
};

Result<VerifyTexts> read_array(const Json& json, const std::string& path) {
  VerifyTexts read;
  for (const Json& item : json.items()) {
    const Json* text = item.find("text");
    if (text == nullptr || text->as_string() == nullptr) {
      return fail("input-json", fmt::format("item {} has no string `text`", read.texts.size()),
                  path, "give an array of {\"id\", \"text\"}");
    }
    read.texts.push_back(*text->as_string());
    std::vector<int32_t> ids;
    if (const Json* declared = item.find("token_ids"); declared != nullptr) {
      for (const Json& value : declared->items()) {
        const int64_t id = value.as_i64().value_or(-1);
        if (id >= 0 && id <= INT32_MAX) ids.push_back(static_cast<int32_t>(id));
      }
      if (ids.empty() || ids.size() != declared->items().size()) {
        return fail("input-json",
                    fmt::format("`token_ids` of item {} is not an array of token ids",
                                read.texts.size() - 1),
                    path, "give whole numbers, or leave `token_ids` out");
      }
    }
    read.declared.push_back(std::move(ids));
  }
  return read;
}

Result<VerifyTexts> read_texts(const VerifyOptions& options) {
  VerifyTexts read;
  if (options.texts.empty()) {
    read.texts.assign(std::begin(kBuiltInTexts), std::end(kBuiltInTexts));
    read.declared.resize(read.texts.size());
    return read;
  }
  if (options.texts.ends_with(".json")) {
    CAPRA_ASSIGN(const Json json, read_json_file(options.texts));
    if (!json.is_array()) {
      return fail("input-json", fmt::format("is {}, needed an array", json.kind_text()),
                  options.texts, "give an array of {\"id\", \"text\"}");
    }
    return read_array(json, options.texts);
  }
  TextSource source;
  source.input = options.texts;
  CAPRA_ASSIGN(TextInput input, TextInput::open(source, options.embedding.strict_utf8));
  while (true) {
    InputRow row;
    CAPRA_ASSIGN(const bool more, input.next(row));
    if (!more) break;
    read.texts.push_back(std::move(row.text));
    read.declared.emplace_back();
  }
  return read;
}

// Rows whose ids differ from what the file says.
struct TokenCheck {
  int64_t declared = 0;
  std::vector<int64_t> differing;
};

TokenCheck check_tokens(const PackedTokens& packed, const VerifyTexts& texts) {
  TokenCheck check;
  for (size_t i = 0; i < texts.declared.size(); ++i) {
    const std::vector<int32_t>& declared = texts.declared[i];
    if (declared.empty()) continue;
    ++check.declared;
    const auto begin = packed.ids.begin() + packed.offsets[i];
    const auto end = packed.ids.begin() + packed.offsets[i + 1];
    if (!std::equal(begin, end, declared.begin(), declared.end())) {
      check.differing.push_back(static_cast<int64_t>(i));
    }
  }
  return check;
}

// The measured effect of one choice of approximations.
struct BudgetRow {
  std::string approximations;
  double vector_error = 0;
};

Result<std::vector<BudgetRow>> measure_budget(const VerifyOptions& options,
                                              const PackedTokens& tokens) {
  std::vector<std::vector<std::string>> choices = {{}};
  for (const std::string& one : options.embedding.approximate) choices.push_back({one});
  if (options.embedding.approximate.size() > 1) choices.push_back(options.embedding.approximate);
  std::vector<BudgetRow> rows;
  for (const std::vector<std::string>& choice : choices) {
    EmbeddingOptions embedding = options.embedding;
    embedding.approximate = choice;
    CAPRA_ASSIGN(const EmbeddingModel model, EmbeddingModel::load(options.model, embedding));
    CAPRA_ASSIGN(const Verification result, verify_model(model, tokens, nullptr));
    rows.push_back({choice.empty() ? "none" : fmt::format("{}", fmt::join(choice, " + ")),
                    result.vector_error});
  }
  return rows;
}

struct Verdict {
  double gate = 0;
  double error = 0;  ///< the larger of the errors against the oracle and the file
  std::vector<std::string> failures = {};
};

Verdict judge(const Verification& result, const TokenCheck& tokens, double gate) {
  Verdict verdict{.gate = gate, .error = result.vector_error};
  for (const ReferenceResult& reference : result.references) {
    if (reference.name == "embeddings") {
      verdict.error = std::max(verdict.error, reference.optimized_error);
    }
  }
  if (!(verdict.error <= gate)) {
    verdict.failures.push_back(
        fmt::format("vectors differ by {:.3g}, the gate is {:.3g}", verdict.error, gate));
  }
  if (result.vectors_not_finite > 0) {
    verdict.failures.push_back(
        fmt::format("the vectors of {} texts hold values that are not finite numbers",
                    result.vectors_not_finite));
  }
  if (result.differing_values > 0) {
    verdict.failures.push_back(
        fmt::format("eager and optimized differ in {} values", result.differing_values));
  }
  if (result.batch_differing_values > 0) {
    verdict.failures.push_back(fmt::format("a text alone and in a batch differ in {} values",
                                           result.batch_differing_values));
  }
  if (result.references.empty() && !result.unmatched.empty()) {
    verdict.failures.emplace_back("no tensor of the file given to --against names a value here");
  }
  if (!tokens.differing.empty()) {
    verdict.failures.push_back(
        fmt::format("the token ids of {} texts differ from the file's (the first is text {})",
                    tokens.differing.size(), tokens.differing.front()));
  }
  return verdict;
}

// One line for all nodes that were rewritten alike.
struct ApproximationGroup {
  Approximation first;
  int64_t nodes = 0;
};

std::vector<ApproximationGroup> grouped(const std::vector<Approximation>& approximations) {
  std::vector<ApproximationGroup> groups;
  const auto alike = [](const Approximation& a, const Approximation& b) {
    return a.legalized_from == b.legalized_from && a.legalized_to == b.legalized_to &&
           a.reason == b.reason && a.max_abs_error == b.max_abs_error;
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

std::string approximation_line(const ApproximationGroup& group) {
  const Approximation& one = group.first;
  const std::string where = group.nodes == 1
                                ? "1 node (" + one.node + ")"
                                : fmt::format("{} nodes ({}, ...)", group.nodes, one.node);
  return fmt::format("{} -> {} on {}, largest error of one activation {} [{}]", one.legalized_from,
                     one.legalized_to, where, exponent_text(one.max_abs_error), one.reason);
}

// A folder's own name, without the way to it.
std::string model_name(const std::string& folder) {
  const std::filesystem::path path(folder);
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

std::string report_text(const VerifyOptions& options, const Verification& result,
                        const TokenCheck& tokens, const std::vector<BudgetRow>& budget,
                        const Verdict& verdict) {
  std::string text = fmt::format("{} on {}: {} texts, {} tokens\n", model_name(options.model),
                                 result.target, result.texts, result.tokens);
  text += fmt::format("{:<20} {:>14} {:>6} {:>18}\n", "stage", "max abs error", "text",
                      "eager = optimized");
  for (const StageResult& stage : result.stages) {
    const std::string equal = stage.differing_values == 0
                                  ? "bit-equal"
                                  : fmt::format("{} differ", stage.differing_values);
    text += fmt::format("{:<20} {:>14.3g} {:>6} {:>18}\n", stage.stage, stage.max_abs_error,
                        stage.worst_text, equal);
  }
  text += fmt::format("alone = in a batch: {}\n",
                      result.batch_differing_values == 0
                          ? "bit-equal"
                          : fmt::format("{} values differ", result.batch_differing_values));
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
  for (const BudgetRow& row : budget) {
    text += fmt::format("budget: with {}, vectors differ by {:.3g}\n", row.approximations,
                        row.vector_error);
  }
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

Json report_json(const VerifyOptions& options, const Verification& result, const TokenCheck& tokens,
                 const std::vector<BudgetRow>& budget, const Verdict& verdict) {
  Json document = Json::object();
  document.set("model", options.model).set("target", result.target);
  document.set("texts", result.texts).set("tokens", result.tokens);
  document.set("passed", verdict.failures.empty());
  document.set("max_error", verdict.gate).set("error", verdict.error);
  document.set("median_error", result.median_vector_error);
  document.set("differing_values", result.differing_values);
  document.set("vectors_not_finite", result.vectors_not_finite);
  document.set("batch_differing_values", result.batch_differing_values);
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
  Json rows = Json::array();
  for (const BudgetRow& one : budget) {
    Json row = Json::object();
    rows.push(row.set("approximations", one.approximations).set("error", one.vector_error));
  }
  document.set("budget", std::move(rows));
  Json failures = Json::array();
  for (const std::string& failure : verdict.failures) failures.push(failure);
  document.set("failures", std::move(failures));
  Json approximations = Json::array();
  for (const Approximation& one : result.approximations) {
    Json row = Json::object();
    row.set("node", one.node).set("legalizedFrom", one.legalized_from);
    row.set("legalizedTo", one.legalized_to);
    row.set("reason", one.reason).set("maxAbsError", one.max_abs_error);
    approximations.push(std::move(row));
  }
  document.set("approximations", std::move(approximations));
  return document;
}

}  // namespace

Result<int> run_verify(const VerifyOptions& options) {
  CAPRA_ASSIGN(const VerifyTexts texts, read_texts(options));
  if (texts.texts.empty()) {
    return fail("input-missing", "there are no texts to verify with", options.texts,
                "give a file that holds at least one text");
  }
  Reference reference;
  if (!options.against.empty()) {
    CAPRA_ASSIGN(reference, read_reference(options.against));
  }
  CAPRA_ASSIGN(const EmbeddingModel model, EmbeddingModel::load(options.model, options.embedding));
  const std::vector<std::string_view> views(texts.texts.begin(), texts.texts.end());
  CAPRA_ASSIGN(const PackedTokens packed, model.tokenize(views));
  const TokenCheck tokens = check_tokens(packed, texts);
  say_remarks(model.remarks(), options.quiet);

  Progress progress("texts", options.quiet);
  CAPRA_ASSIGN(const Verification result,
               verify_model(model, packed, options.against.empty() ? nullptr : &reference,
                            [&](int64_t done) {
                              progress.update(done, static_cast<double>(done) /
                                                        static_cast<double>(packed.sequences()));
                            }));
  progress.finish();
  std::vector<BudgetRow> budget;
  if (options.budget) {
    CAPRA_ASSIGN(budget, measure_budget(options, packed));
  }
  const Verdict verdict = judge(result, tokens, options.max_error.value_or(kDefaultGate));
  CAPRA_TRY(print_result(options.json
                             ? report_json(options, result, tokens, budget, verdict).text(2) + "\n"
                             : report_text(options, result, tokens, budget, verdict)));
  return verdict.failures.empty() ? kDone : kNo;
}

}  // namespace capra::driver
