// The files of an exported program of the chip.
#pragma once

#include "capra/runtime/target.h"

namespace capra::ga2 {

/// Fails with `option-invalid` for what programs of the chip do not have, whether they are written
/// or run.
Status check_options(const Target& target, const WriteOptions& options);

/// `Target::write` of this target and of those that derive from it: the program as words and as a
/// listing, external memory with the weights, where inputs and outputs lie in it, and the chip's
/// graph with its samples. Fails as `check_options` and `compile_graph`.
Result<WrittenProgram> write(const Target& target, const Graph& graph, const Parameters& parameters,
                             const WriteOptions& options, NewFolder& folder);

}  // namespace capra::ga2
