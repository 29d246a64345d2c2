// Running files of cases, and rewriting what they expect.
#include "tools/golden/command.h"

#include <fmt/format.h>

#include <vector>

#include "capra/base/buffer.h"
#include "capra/base/new_file.h"
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

Status run_file(const std::string& path, bool bless, Totals& totals, std::string& output) {
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
    for (const std::string& failure : result.failures) output += failure + "\n";
  }
  if (changed) return write_file(path, golden_text(file));
  return {};
}

}  // namespace

int run_command(std::span<const std::string_view> arguments, bool ci, std::string& output) {
  bool bless = false;
  std::vector<std::string> files;
  for (const std::string_view argument : arguments) {
    if (argument == "--bless") {
      bless = true;
    } else if (argument.starts_with("-")) {
      output += fmt::format("golden: unknown flag {}\n", argument);
      return 2;
    } else {
      files.emplace_back(argument);
    }
  }
  if (files.empty()) {
    output += "usage: golden [--bless] FILE...\n";
    return 2;
  }
  if (bless && ci) {
    output += "golden: --bless is not for CI, where expected text is only checked\n";
    return 2;
  }
  Totals totals;
  bool read = true;
  for (const std::string& file : files) {
    const Status status = run_file(file, bless, totals, output);
    if (!status.ok()) output += to_text(status.error()) + "\n";
    read &= status.ok();
  }
  output += fmt::format("{} cases, {} failed, {} executions", totals.cases, totals.failed,
                        totals.executions);
  if (bless) output += fmt::format(", {} blessed", totals.blessed);
  output += "\n";
  if (!read) return 2;
  return totals.failed == 0 ? 0 : 1;
}

}  // namespace capra::golden
