// golden: runs text tests. `golden FILE...` checks; `golden --bless FILE...` rewrites what is
// expected.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "capra/base/buffer.h"
#include "capra/ops/all_ops.h"
#include "tools/golden/golden_file.h"
#include "tools/golden/run_case.h"

namespace capra::golden {
namespace {

struct Totals {
  int cases = 0;
  int failed = 0;
  int executions = 0;
  int blessed = 0;
};

bool report(const Status& status) {
  if (!status.ok()) fmt::print(stderr, "{}\n", to_text(status.error()));
  return status.ok();
}

Status run_file(const std::string& path, bool bless, Totals& totals) {
  CAPRA_ASSIGN(const std::string text, read_file(path));
  CAPRA_ASSIGN(GoldenFile file, parse_golden(text, path));
  bool changed = false;
  for (size_t i = 0; i < file.cases.size(); ++i) {
    const CaseResult result = run_case(file, file.cases[i], all_ops());
    ++totals.cases;
    totals.executions += result.executions;
    if (result.failures.empty()) continue;
    if (bless && result.may_bless) {
      replace_expected(file, i, result.actual);
      changed = true;
      ++totals.blessed;
      continue;
    }
    ++totals.failed;
    for (const std::string& failure : result.failures) fmt::print("{}\n", failure);
  }
  if (changed) return write_file(path, golden_text(file));
  return {};
}

int run(int argc, char** argv) {
  bool bless = false;
  Totals totals;
  bool read = true;
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--bless") {
      bless = true;
      continue;
    }
    ++files;
  }
  if (files == 0) {
    fmt::print(stderr, "usage: golden [--bless] FILE...\n");
    return 2;
  }
  if (bless && std::getenv("CI") != nullptr) {
    fmt::print(stderr, "golden: --bless is not for CI, where expected text is only checked\n");
    return 2;
  }
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--bless") continue;
    read &= report(run_file(argv[i], bless, totals));
  }
  fmt::print("{} cases, {} failed, {} executions", totals.cases, totals.failed, totals.executions);
  if (bless) fmt::print(", {} blessed", totals.blessed);
  fmt::print("\n");
  if (!read) return 2;
  return totals.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace capra::golden

int main(int argc, char** argv) { return capra::golden::run(argc, argv); }
