// Writing a program with its weights and the options of its compiler.
#pragma once

#include "capra/runtime/target.h"

namespace capra::stablehlo {

inline constexpr const char* kProgramFile = "model.mlir";
inline constexpr const char* kArchiveFile = "model.irpa";
/// The name under which the program asks for the archive.
inline constexpr const char* kArchiveScope = "model";

/// `Target::write` of this target and of those that derive from it: `model.mlir`, the
/// archive `model.irpa` with `model.irpa.json` or `model.safetensors` where data stand outside the
/// program, `iree.flags`. The extension that can be left out is `chlo`. Fails as `emit`,
/// `write_irpa` and `write_safetensors` do, and with `option-invalid`.
Result<WrittenProgram> write(const Target& target, const Graph& graph, const Parameters& parameters,
                             const WriteOptions& options, NewFolder& folder);

}  // namespace capra::stablehlo
