// What a program of this target computes, without its text.
#pragma once

#include "capra/runtime/target.h"

namespace capra::stablehlo {

/// `Target::read_back` of this target and of those that derive from it: the module that `write`
/// prints, as `import_module` has it. Fails as `emit` does.
Result<ReadProgram> read_back(const Target& target, const Graph& graph,
                              const Parameters& parameters, const WriteOptions& options);

}  // namespace capra::stablehlo
