// A StableHLO program compiled by IREE's compiler, and run by a process for each run.
#pragma once

#include <memory>

#include "capra/runtime/target.h"

namespace capra::iree {

/// `Target::compile` of this target and of those that derive from it: writes the program as
/// `write_program` does, in a temporary folder that lives as long as the executable, and compiles
/// it there. Fails as `find_tools` and `write_program` do, with `tool-compile-failed` and
/// `tool-time-limit`; a run with `tool-run-failed`, `tool-versions-differ` and `tool-time-limit`.
/// An index outside its axis is clamped, as the dialect says.
Result<std::unique_ptr<Executable>> compile(const Target& target, const Graph& graph,
                                            const Parameters& parameters,
                                            const CompileOptions& options);

}  // namespace capra::iree
