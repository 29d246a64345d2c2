// The record of target iree: all but running is that of stablehlo.
#include "capra/targets/stablehlo/iree/target.h"

#include <fmt/format.h>

#include "capra/targets/stablehlo/iree/program.h"
#include "capra/targets/stablehlo/iree/tools.h"
#include "capra/targets/stablehlo/target.h"

namespace capra::iree {
namespace {

Availability availability(const ToolOptions& options) {
  Availability here{.detail = "the tools in PATH, or in the folder that --iree-dir names",
                    .needs = {fmt::format("{} {} or later", kCompilerName, kOldestVersion),
                              fmt::format("{} of the same version", kRunnerName)},
                    .missing = {}};
  for (const char* name : {kCompilerName, kRunnerName}) {
    if (!find_tool(name, options.folder).ok()) here.missing.emplace_back(name);
  }
  if (!here.missing.empty()) return here;
  const Result<Tools> tools = find_tools(options.folder);
  if (tools.ok()) {
    here.detail = fmt::format("{} {}", tools->compiler, tools->version);
  } else {
    here.missing.push_back(tools.error().message);
  }
  return here;
}

}  // namespace

constinit const Target kTarget{.name = "iree",
                               .summary = "Runs StableHLO programs with IREE's tools.",
                               .base = &stablehlo::kTarget,
                               .availability = availability,
                               .compile = compile};

}  // namespace capra::iree
