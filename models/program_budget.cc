// Programs read back as graphs, with one pass and without.
#include "models/program_budget.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "capra/interp/interp.h"
#include "models/comparison.h"

namespace capra {
namespace {

using Parts = EmbeddingModel::Parts;

bool is_of_program(const Rewrite& rewrite) {
  return rewrite.list == kProgramPasses && rewrite.effect == NumericEffect::Approximate;
}

// One part for each pass, in the order in which they first act.
std::vector<BudgetPart> parts_of(const PassReport& report) {
  std::vector<BudgetPart> found;
  for (const Rewrite& rewrite : report.rewrites) {
    if (!is_of_program(rewrite)) continue;
    auto part = std::ranges::find(found, rewrite.pass, &BudgetPart::name);
    if (part == found.end()) {
      found.push_back({.kind = BudgetKind::Legalization,
                       .name = rewrite.pass,
                       .bound = {.max_abs = 0, .max_ulp = 0},
                       .reason = rewrite.reason});
      part = found.end() - 1;
    }
    ++part->nodes;
    part->bound.max_abs = std::max(part->bound.max_abs, rewrite.max_abs_error);
    part->max_rel = std::max(part->max_rel, rewrite.max_rel_error);
  }
  return found;
}

// What the passes that run do to the program of a graph.
Result<PassReport> report_of(const Parts& parts, const Graph& graph) {
  const Target whole = resolved(*parts.target);
  CompileOptions options = parts.compile_options();
  if (whole.read_back != nullptr) {
    CAPRA_ASSIGN(ReadProgram program,
                 whole.read_back(whole, graph, parts.weights.parameters, options.program));
    return std::move(program.passes);
  }
  PassReport report;
  options.report = &report;
  CAPRA_TRY(compile(*parts.target, graph, parts.weights.parameters, options));
  return report;
}

// The vectors of all texts, by a program of one text.
Result<std::vector<Array>> vectors_of(const Parts& parts, const ReadProgram& program,
                                      const PackedTokens& tokens,
                                      const std::function<void()>& step) {
  std::vector<Array> vectors;
  for (int64_t text = 0; text < tokens.sequences(); ++text) {
    const auto begin = static_cast<size_t>(tokens.offsets[static_cast<size_t>(text)]);
    const auto end = static_cast<size_t>(tokens.offsets[static_cast<size_t>(text) + 1]);
    const std::array ids = {
        Array::of<int32_t>(DType::I32, {static_cast<int64_t>(end - begin)},
                           std::span<const int32_t>(tokens.ids).subspan(begin, end - begin))};
    const std::array types = {ids[0].type()};
    CAPRA_ASSIGN(const Graph graph, program.graph(types));
    CAPRA_ASSIGN(const std::vector<Array> states,
                 interpret(graph, ids, program.parameters, parts.pool));
    vectors.push_back(vector_of(parts, states.back()));
    step();
  }
  return vectors;
}

// What programs that are read back give on the texts.
struct Measuring {
  const Parts& parts;
  const Graph& graph;
  const PackedTokens& tokens;
  const ProgramPassChoice& exact;
  const std::function<void()>& step;
  std::vector<Array> base = {};  ///< without any of the passes; empty: not computed yet

  Result<ReadProgram> read(const ProgramPassChoice& chosen) const {
    const Target whole = resolved(*parts.target);
    WriteOptions options = parts.compile_options().program;
    options.program_passes = chosen;
    return whole.read_back(whole, graph, parts.weights.parameters, options);
  }

  // The largest change of a vector by the pass alone; none: alone it finds nothing to change.
  Result<std::optional<double>> effect(const std::string& name) {
    if (base.empty()) {
      CAPRA_ASSIGN(const ReadProgram without, read(exact));
      CAPRA_ASSIGN(base, vectors_of(parts, without, tokens, step));
    }
    CAPRA_ASSIGN(const ReadProgram with,
                 read([&](const ProgramPass& pass) { return pass.name == name || exact(pass); }));
    const auto is_own = [&](const Rewrite& one) { return is_of_program(one) && one.pass == name; };
    if (std::ranges::none_of(with.passes.rewrites, is_own)) return std::optional<double>();
    CAPRA_ASSIGN(const std::vector<Array> changed, vectors_of(parts, with, tokens, step));
    double largest = 0;
    for (size_t i = 0; i < base.size(); ++i) {
      largest = std::max(largest, max_difference(changed[i], base[i]));
    }
    return std::optional(largest);
  }
};

void measure_part(BudgetPart& part, Measuring& measuring) {
  const Target whole = resolved(*measuring.parts.target);
  const std::string unknown = "not measured alone: ";
  part.is_measured = false;
  if (whole.read_back == nullptr) {
    part.measured = unknown + "programs of " + std::string(whole.name) + " are not read back";
    return;
  }
  const Result<std::optional<double>> effect = measuring.effect(part.name);
  if (!effect.ok()) {
    part.measured = unknown + effect.error().message;
  } else if (!effect->has_value()) {
    part.measured = unknown + "it changes nothing without the other approximations";
  } else {
    part.is_measured = true;
    part.effect = **effect;
    part.measured = "the oracle on the program with this pass alone";
  }
}

}  // namespace

Result<ProgramBudget> ProgramBudget::find(const Parts& parts) {
  ProgramBudget budget(parts);
  const auto passes = resolved(*parts.target).optimizer.program_passes;
  if (passes == nullptr || passes().empty()) return budget;
  CAPRA_ASSIGN(budget.graph_,
               parts.approximated(parts.encoder->trace({.form = SequenceForm::Single})));
  CAPRA_ASSIGN(const PassReport report, report_of(parts, budget.graph_));
  budget.found_ = parts_of(report);
  return budget;
}

ProgramPassChoice ProgramBudget::exact_passes() const {
  std::set<std::string, std::less<>> names;
  for (const BudgetPart& part : found_) names.insert(part.name);
  return [names](const ProgramPass& pass) {
    return pass.effect != NumericEffect::Approximate && !names.contains(pass.name);
  };
}

int64_t ProgramBudget::runs_of_a_text() const {
  return found_.empty() ? 0 : static_cast<int64_t>(found_.size()) + 1;
}

std::vector<BudgetPart> ProgramBudget::measure(const PackedTokens& tokens,
                                               const std::function<void()>& step) {
  const ProgramPassChoice exact = exact_passes();
  Measuring measuring{*parts_, graph_, tokens, exact, step};
  for (BudgetPart& part : found_) measure_part(part, measuring);
  return found_;
}

std::vector<Approximation> program_approximations(const PassReport& report) {
  std::vector<Rewrite> made;
  std::ranges::copy_if(report.rewrites, std::back_inserter(made), is_of_program);
  return approximations(made);
}

}  // namespace capra
