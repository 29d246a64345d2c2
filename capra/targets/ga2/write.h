// The files of an exported program of the chip.
#pragma once

#include "capra/runtime/target.h"

namespace capra::ga2 {

/// `Target::write` of this target and of those that derive from it: the program as words and as a
/// listing, external memory with the weights, where inputs and outputs lie in it, and the chip's
/// graph with its samples. Fails as `compile_graph`, and with `option-invalid` for options that
/// such programs do not have.
Result<WrittenProgram> write(const Target& target, const Graph& graph, const Parameters& parameters,
                             const WriteOptions& options, NewFolder& folder);

}  // namespace capra::ga2
