// The files of an exported program.
#include "capra/targets/stablehlo/write.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "capra/base/new_file.h"
#include "capra/targets/stablehlo/emit.h"
#include "capra/targets/stablehlo/irpa.h"

namespace capra::stablehlo {
namespace {

constexpr const char* kFlagsFile = "iree.flags";

Result<bool> may_use_chlo(const Target& target, const WriteOptions& options) {
  for (const std::string& name : options.without) {
    if (name == "chlo") continue;
    return fail("option-invalid",
                fmt::format("programs of target {} know no extension '{}'", target.name, name), {},
                "chlo is the one that can be left out");
  }
  return options.without.empty();
}

std::vector<std::string> run_lines(const Module& module) {
  const std::string archive =
      module.globals.empty()
          ? ""
          : fmt::format(" --parameters={}={}", module.globals.front().scope, kArchiveFile);
  return {fmt::format("iree-compile $(cat {}) {} -o model.vmfb", kFlagsFile, kProgramFile),
          fmt::format("iree-run-module --module=model.vmfb --device=local-task --function={}{}",
                      module.functions.front().name, archive)};
}

}  // namespace

Result<WrittenProgram> write(const Target& target, const Graph& graph, const Parameters& parameters,
                             const WriteOptions& options, NewFolder& folder) {
  WrittenProgram written;
  CAPRA_ASSIGN(const bool chlo, may_use_chlo(target, options));
  CAPRA_ASSIGN(const Module module, emit(graph, parameters,
                                         {.target = &target,
                                          .keep_fused = options.keep_fused,
                                          .external_from = options.constants->external_from,
                                          .scope = kArchiveScope,
                                          .chlo = chlo,
                                          .report = &written.passes,
                                          .approximations = &written.approximations,
                                          .kept = &written.kept}));
  CAPRA_TRY(write_file(folder.file(kProgramFile), print_module(module)));
  written.files.emplace_back(kProgramFile);
  if (!module.globals.empty()) {
    CAPRA_TRY(write_irpa(folder.file(kArchiveFile), module.globals, parameters));
    written.files.emplace_back(kArchiveFile);
  }
  if (target.optimizer.compile_flags != nullptr) written.flags = target.optimizer.compile_flags();
  CAPRA_TRY(
      write_file(folder.file(kFlagsFile), fmt::format("{}\n", fmt::join(written.flags, "\n"))));
  written.files.emplace_back(kFlagsFile);
  for (const Global& global : module.globals) {
    written.parameters.push_back({global.key, global.type});
  }
  written.run = run_lines(module);
  return written;
}

}  // namespace capra::stablehlo
