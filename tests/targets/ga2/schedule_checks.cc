// The author's schedule is compared with the golden files elsewhere; here it is the measure.
#include "tests/targets/ga2/schedule_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "capra/targets/ga2/schedule/least_cycles.h"
#include "capra/targets/ga2/sim/run.h"

namespace capra::ga2 {
namespace {

// Outputs of a run that are not the interpreter's.
std::vector<std::string> interpreter_problems(const Program& program, const Run& ran,
                                              const std::vector<Matrix<int32_t>>& integers) {
  std::vector<std::string> problems;
  for (const ExternalRegion& region : program.external) {
    if (program.network.node(region.node).op != NodeOp::Output) continue;
    if (ran.outputs.at(region.name).integers == integers[static_cast<size_t>(region.node)])
      continue;
    problems.push_back(fmt::format("output {} differs from the interpreter", region.name));
  }
  return problems;
}

}  // namespace

std::vector<std::string> schedule_problems(const Network& network,
                                           std::span<const Sample> calibration,
                                           CompileOptions options, const Sample& test,
                                           bool must_be_saved) {
  const Result<Program> author = compile(network, calibration, options);
  options.schedule = Schedule::Fast;
  const Result<Program> fast = compile(network, calibration, options);
  if (!author.ok()) return {to_text(author.error())};
  if (!fast.ok()) return {to_text(fast.error())};
  const Result<Run> slow_run = run(*author, test);
  const Result<Run> fast_run = run(*fast, test);
  if (!slow_run.ok()) return {to_text(slow_run.error())};
  if (!fast_run.ok()) return {to_text(fast_run.error())};
  const Result<Places> places = place(network);
  const Result<int64_t> least = least_cycles(network, fast->plan, *places);
  if (!least.ok()) return {to_text(least.error())};

  std::vector<std::string> problems;
  const auto check = [&](bool holds, std::string problem) {
    if (!holds) problems.push_back(std::move(problem));
  };
  const int64_t cycles = fast_run->counters.total;
  // Of a graph with one input and one output there may be nothing to save.
  const bool is_least = slow_run->counters.total == *least || !must_be_saved;
  check(fast->schedule == Schedule::Fast || is_least, "the fast schedule was not taken");
  check(fast->scratchpad_high <= kScratchpadWords, "beyond the scratchpad");
  check(fast->external_words <= options.external_words, "beyond external memory");
  check(cycles < slow_run->counters.total + (is_least ? 1 : 0),
        fmt::format("{} cycles, the author's {}", cycles, slow_run->counters.total));
  check(cycles >= *least, fmt::format("{} cycles, at least {} are needed", cycles, *least));
  check(fast_run->counters == cost(fast->instructions), "the counters are not the cost");
  check(fast_run->outputs.size() == slow_run->outputs.size(), "an output is missing");
  const std::vector<Matrix<int32_t>> integers = interpret(*fast, test);
  for (const auto& [name, wanted] : slow_run->outputs) {
    const Output& found = fast_run->outputs.at(name);
    check(found.integers == wanted.integers && found.values == wanted.values,
          fmt::format("output {} differs from the author's", name));
  }
  std::ranges::move(interpreter_problems(*fast, *fast_run, integers), std::back_inserter(problems));
  check(integers == interpret(*author, test), "the interpreter reads the program differently");
  check(stage_problems(*fast, integers) == stage_problems(*author, integers),
        "the stages are judged differently");
  return problems;
}

std::optional<std::vector<std::string>> wild_problems(const Case& one) {
  if (compile(one.network, one.calibration).ok()) {
    return schedule_problems(one.network, one.calibration, {}, one.test, false);
  }
  const Result<Program> fast = compile(one.network, one.calibration, {.schedule = Schedule::Fast});
  if (!fast.ok()) return std::nullopt;
  const Result<Run> ran = run(*fast, one.test);
  if (!ran.ok()) return std::vector{to_text(ran.error())};
  return interpreter_problems(*fast, *ran, interpret(*fast, one.test));
}

}  // namespace capra::ga2
