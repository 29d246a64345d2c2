// Checks (a) to (e).
#include "tests/targets/ga2/battery/checks.h"

#include <fmt/format.h>

#include <span>

#include "capra/targets/ga2/sim/run.h"

namespace capra::ga2 {
namespace {

class Checker {
 public:
  Checker(const Case& one, double bound) : case_(one), bound_(bound) {}

  CheckResult run() {
    const Result<Program> packed = compiled(true);
    const Result<Program> kept = compiled(false);
    if (!packed.ok() || !kept.ok()) return std::move(result_);
    const Result<Run> packed_run = ga2::run(*packed, case_.test);
    const Result<Run> kept_run = ga2::run(*kept, case_.test);
    if (!packed_run.ok()) report("run", to_text(packed_run.error()));
    if (!kept_run.ok()) report("run without reuse", to_text(kept_run.error()));
    if (!packed_run.ok() || !kept_run.ok()) return std::move(result_);
    result_.counters = packed_run->counters;
    result_.instructions = std::ssize(packed->instructions);
    result_.scratchpad_high = packed->scratchpad_high;
    result_.scratchpad_high_kept = kept->scratchpad_high;

    const std::vector<Matrix<int32_t>> integers = interpret(*kept, case_.test);
    check_outputs(*kept, *packed_run, *kept_run, integers);
    check_tensors(*kept, *kept_run, integers);
    for (const std::string& one : stage_problems(*kept, integers)) report("(d)", one);
    result_.error = relative_error(*kept, *kept_run, case_.test);
    if (!(result_.error <= bound_)) {
      report("(e)", fmt::format("error {:.3f} over the bound {}", result_.error, bound_));
    }
    return std::move(result_);
  }

 private:
  void report(std::string_view check, const std::string& problem) {
    result_.problems.push_back(fmt::format("{} {}", check, problem));
  }

  Result<Program> compiled(bool reuse) {
    Result<Program> program = compile(case_.network, case_.calibration, {.reuse = reuse});
    if (!program.ok()) {
      report(reuse ? "compile" : "compile without reuse", to_text(program.error()));
    }
    return program;
  }

  void check_outputs(const Program& program, const Run& packed, const Run& kept,
                     std::span<const Matrix<int32_t>> integers) {
    for (const ExternalRegion& region : program.external) {
      if (program.network.node(region.node).op != NodeOp::Output) continue;
      const Matrix<int32_t>& found = kept.outputs.at(region.name).integers;
      if (packed.outputs.at(region.name).integers != found) {
        report("(a)",
               fmt::format("output {}: the programs with and without reuse differ", region.name));
      }
      if (found != integers[static_cast<size_t>(region.node)]) {
        report("(b)", fmt::format("output {} differs from the interpreter", region.name));
      }
    }
  }

  void check_tensors(const Program& program, const Run& run,
                     std::span<const Matrix<int32_t>> integers) {
    for (size_t node = 0; node < integers.size(); ++node) {
      const std::optional<int64_t> address = program.addresses[node];
      if (!address) continue;
      const std::vector<int32_t>& wanted = integers[node].values;
      for (size_t i = 0; i < wanted.size(); ++i) {
        if (static_cast<int32_t>(run.scratchpad[static_cast<size_t>(*address) + i]) == wanted[i])
          continue;
        report("(c)", fmt::format("tensor {} ({}) in the scratchpad differs from the interpreter",
                                  node, node_op_name(program.network.nodes()[node].op)));
        break;
      }
    }
  }

  const Case& case_;
  double bound_;
  CheckResult result_;
};

}  // namespace

CheckResult check_case(const Case& one, double bound) { return Checker(one, bound).run(); }

double error_bound(CaseKind kind) {
  switch (kind) {
    case CaseKind::Graph:
    case CaseKind::Fresh:
      return 0.16;
    case CaseKind::Slice:
      return 0.40;
    case CaseKind::Int4:
      return 0.72;
    case CaseKind::Wild:
      break;  // is none of the battery
  }
  CAPRA_CHECK(false);
}

}  // namespace capra::ga2
