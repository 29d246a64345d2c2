// The instruction sets the CPU target has kernels for, and which of them this machine runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace capra::kernels {

enum class Isa : uint8_t { Portable, Avx2, Avx512, Neon };

/// "portable", "avx2", "avx512" or "neon".
const char* isa_name(Isa isa);
/// The inverse of isa_name; nothing for any other text.
std::optional<Isa> parse_isa(std::string_view name);
/// True if this processor and this operating system run code for `isa`.
bool host_runs(Isa isa);

}  // namespace capra::kernels
