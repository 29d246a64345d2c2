// Writing a program with its weights and the options of its compiler.
#pragma once

#include <string>
#include <string_view>

#include "capra/runtime/target.h"

namespace capra::stablehlo {

inline constexpr const char* kProgramFile = "model.mlir";
inline constexpr const char* kArchiveFile = "model.irpa";
/// The name under which the program asks for the archive.
inline constexpr const char* kArchiveScope = "model";

/// Whether a shell reads these bytes as one word that means themselves.
bool is_shell_word(std::string_view text);

/// Element types as the runtime's tools spell them: they know neither signs nor a type of one bit.
std::string runner_dtype_text(DType dtype);

/// `Target::write` of this target and of those that derive from it: `model.mlir`, the
/// archive `model.irpa` with `model.irpa.json` or `model.safetensors` where data stand outside the
/// program, `iree.flags`. The extension that can be left out is `chlo`. Fails as `emit`,
/// `write_irpa` and `write_safetensors` do, with `option-invalid`, with `graph-not-callable` for a
/// graph without a name or outputs, and with `archive-key-escaped`.
Result<WrittenProgram> write(const Target& target, const Graph& graph, const Parameters& parameters,
                             const WriteOptions& options, NewFolder& folder);

}  // namespace capra::stablehlo
