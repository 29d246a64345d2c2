// ga2_schedules: the fast schedule beside the author's.
//   ga2_schedules                       the table of docs/ga2.md
//   ga2_schedules KIND FIRST COUNT      checks seeds of graph, slice, int4 or wild
#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>

#include "tests/targets/ga2/battery/seed_range.h"
#include "tests/targets/ga2/schedule_checks.h"
#include "tests/targets/ga2/schedule_table.h"

namespace capra::ga2 {
namespace {

// Most wild graphs are refused by neither schedule.
constexpr double kLeastCompiled = 0.3;

int check(const SeedRange& seeds) {
  const std::string_view kind = case_kind_name(seeds.kind);
  int64_t bad = 0;
  int64_t compiled = 0;
  for (int64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    const Case one = random_case(seeds.kind, seed);
    const bool is_wild = seeds.kind == CaseKind::Wild;
    const std::optional<std::vector<std::string>> problems =
        is_wild ? wild_problems(one)
                : schedule_problems(one.network, one.calibration, {}, one.test);
    if (!problems) continue;
    ++compiled;
    for (const std::string& problem : *problems) fmt::print("{} {}: {}\n", kind, seed, problem);
    if (!problems->empty()) ++bad;
  }
  fmt::print("{} {} to {}: {} compiled, {} with problems\n", kind, seeds.first,
             seeds.first + seeds.count - 1, compiled, bad);
  const auto least = kLeastCompiled * static_cast<double>(seeds.count);
  return bad == 0 && static_cast<double>(compiled) >= least ? 0 : 1;
}

int run(std::span<const char* const> arguments) {
  if (arguments.empty()) {
    fmt::print("{}", schedule_table());
    return 0;
  }
  if (const std::optional<SeedRange> seeds = seed_range(arguments, kScheduleKinds)) {
    return check(*seeds);
  }
  fmt::print(stderr, "usage: ga2_schedules [graph|slice|int4|wild FIRST COUNT]\n");
  return 2;
}

}  // namespace
}  // namespace capra::ga2

int main(int count, char** arguments) {
  return capra::ga2::run(std::span(arguments, static_cast<size_t>(count)).subspan(1));
}
