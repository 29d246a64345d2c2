// capra verify: the proof of parity, printed.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "capra/io/json_file.h"
#include "models/embedding_parts.h"
#include "models/error_budget.h"
#include "models/verify.h"
#include "tools/capra/command.h"
#include "tools/capra/output.h"
#include "tools/capra/progress.h"
#include "tools/capra/text_input.h"
#include "tools/capra/verify_report.h"

namespace capra::driver {
namespace {

// On normalized vectors. A compiler of programs orders sums as it likes and has its own erf.
constexpr double kDefaultGate = 1e-6;
constexpr double kDefaultProgramGate = 2e-6;

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
  source.option = "--texts";
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

Verdict judge(const Verification& result, const TokenCheck& tokens, const ErrorBudget* budget,
              double gate) {
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
  if (budget != nullptr) {
    for (const BudgetPart& part : budget->parts) {
      if (part.effect <= gate) continue;
      verdict.failures.push_back(fmt::format(
          "{} alone changes vectors by {:.3g}, the gate is {:.3g}", part.name, part.effect, gate));
    }
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
  EmbeddingOptions embedding = options.embedding;
  embedding.compile = false;
  CAPRA_ASSIGN(const EmbeddingModel model, EmbeddingModel::load(options.model, embedding));
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
  std::optional<ErrorBudget> budget;
  if (options.budget) {
    Progress measuring("budget", options.quiet);
    const auto tell = [&](double part) {
      measuring.update(static_cast<int64_t>(part * static_cast<double>(packed.sequences())), part);
    };
    CAPRA_ASSIGN(budget, measure_budget(model, packed, tell));
    measuring.finish();
  }
  const double gate = result.is_program ? kDefaultProgramGate : kDefaultGate;
  const VerifyReport report{.options = options,
                            .result = result,
                            .tokens = tokens,
                            .budget = budget ? &*budget : nullptr,
                            .verdict = judge(result, tokens, budget ? &*budget : nullptr,
                                             options.max_error.value_or(gate))};
  CAPRA_TRY(print_result(options.json ? report_json(report).text(2) + "\n" : report_text(report)));
  return report.verdict.failures.empty() ? kDone : kNo;
}

}  // namespace capra::driver
