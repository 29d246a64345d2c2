// A module that is kept, and imported for each set of input types.
#include "capra/targets/stablehlo/read/read_back.h"

#include <memory>
#include <utility>

#include "capra/targets/stablehlo/emit.h"
#include "capra/targets/stablehlo/irpa.h"
#include "capra/targets/stablehlo/read/import.h"

namespace capra::stablehlo {

Result<ReadProgram> read_back(const Target& target, const Graph& graph,
                              const Parameters& parameters, const WriteOptions& options) {
  ReadProgram program;
  CAPRA_ASSIGN(Module emitted, emit(graph, parameters,
                                    {.target = &target,
                                     .keep_fused = options.keep_fused,
                                     .external_from = 0,
                                     .chlo = options.without.empty(),
                                     .report = &program.passes,
                                     .verify_each = options.verify_each,
                                     .program_passes = options.program_passes}));
  for (const Global& global : emitted.globals) {
    CAPRA_ASSIGN(Array data, global_data(global, parameters));
    program.parameters.emplace(global.key, std::move(data));
  }
  const auto module = std::make_shared<const Module>(std::move(emitted));
  program.graph = [module, name = graph.name()](std::span<const TensorType> inputs) {
    return import_module(*module, {.function = name, .inputs = {inputs.begin(), inputs.end()}});
  };
  return program;
}

}  // namespace capra::stablehlo
