// The author's cycles are the published ones: golden_cases_test and battery_test compare them.
#include "tests/targets/ga2/schedule_table.h"

#include <fmt/format.h>

#include "capra/targets/ga2/network_json.h"
#include "capra/targets/ga2/schedule/least_cycles.h"
#include "tests/targets/ga2/battery/random_network.h"
#include "tests/targets/ga2/golden_files.h"

namespace capra::ga2 {
namespace {

int64_t cycles(const Network& network, std::span<const Sample> calibration, Schedule schedule) {
  const Result<Program> program = compile(network, calibration, {.schedule = schedule});
  if (!program.ok()) {
    ADD_FAILURE() << to_text(program.error());
    return 0;
  }
  return cost(program->instructions).total;
}

int64_t least(const Network& network, std::span<const Sample> calibration) {
  const Result<ScalePlan> plan = plan_scales(network, calibration, {});
  const Result<Places> places = place(network);
  if (!plan.ok() || !places.ok()) return 0;
  const Result<int64_t> cycles = least_cycles(network, *plan, *places);
  return cycles.ok() ? *cycles : 0;
}

std::string row(std::string_view name, const Network& network,
                std::span<const Sample> calibration) {
  const int64_t author = cycles(network, calibration, Schedule::Author);
  const int64_t fast = cycles(network, calibration, Schedule::Fast);
  const int64_t bound = least(network, calibration);
  return fmt::format("| {} | {} | {} | {:.1f} % | {} | {:.1f} % |\n", name, author, fast,
                     100.0 * static_cast<double>(author - fast) / static_cast<double>(author),
                     bound, 100.0 * static_cast<double>(bound) / static_cast<double>(fast));
}

}  // namespace

std::string schedule_table() {
  std::string table =
      "| graph | author's | fast | saved | at least | reached |\n"
      "|---|--:|--:|--:|--:|--:|\n";
  for (const char* name :
       {"example_a", "example_b", "example_b_w08", "example_b_w16", "example_b_w32",
        "example_b_w48", "graph100", "graph101", "graph102", "graph103", "graph104", "graph105"}) {
    const Result<CompileRequest> request = read_request(golden_file(name), name);
    if (request.ok()) table += row(name, request->network, request->calibration);
  }
  for (int64_t seed = 106; seed < 112; ++seed) {
    const Case one = random_case(CaseKind::Fresh, seed);
    table += row(fmt::format("graph{}", seed), one.network, one.calibration);
  }
  for (const char* name : {"section1", "six_layers"}) {
    const Result<CompileRequest> request = read_request(golden_file(name), name);
    if (request.ok()) table += row(name, request->network, request->calibration);
  }
  return table;
}

}  // namespace capra::ga2
