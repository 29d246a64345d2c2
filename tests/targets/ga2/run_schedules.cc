// ga2_schedules: the fast schedule beside the author's.
//   ga2_schedules                       the table of docs/ga2.md
//   ga2_schedules KIND FIRST COUNT      checks seeds of graph, slice or int4
#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>

#include "tests/targets/ga2/battery/seed_range.h"
#include "tests/targets/ga2/schedule_checks.h"
#include "tests/targets/ga2/schedule_table.h"

namespace capra::ga2 {
namespace {

int check(CaseKind kind, int64_t first, int64_t count) {
  int64_t bad = 0;
  for (int64_t seed = first; seed < first + count; ++seed) {
    const Case one = random_case(kind, seed);
    const auto problems = schedule_problems(one.network, one.calibration, {}, one.test);
    for (const std::string& problem : problems) {
      fmt::print("{} {}: {}\n", case_kind_name(kind), seed, problem);
    }
    if (!problems.empty()) ++bad;
  }
  fmt::print("{} {} to {}: {} with problems\n", case_kind_name(kind), first, first + count - 1,
             bad);
  return bad == 0 ? 0 : 1;
}

int run(std::span<const char* const> arguments) {
  if (arguments.empty()) {
    fmt::print("{}", schedule_table());
    return 0;
  }
  if (const std::optional<SeedRange> seeds = seed_range(arguments)) {
    return check(seeds->kind, seeds->first, seeds->count);
  }
  fmt::print(stderr, "usage: ga2_schedules [graph|slice|int4 FIRST COUNT]\n");
  return 2;
}

}  // namespace
}  // namespace capra::ga2

int main(int count, char** arguments) {
  return capra::ga2::run(std::span(arguments, static_cast<size_t>(count)).subspan(1));
}
