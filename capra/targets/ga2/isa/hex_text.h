// Programs as text of hexadecimal digits, as the chip's memory is filled with them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/result.h"
#include "capra/targets/ga2/isa/instruction.h"

namespace capra::ga2 {

/// An instruction a line: 32 digits, bit 127 first.
std::string hex_text(std::span<const Instruction> program);

/// The way back. Spaces and `_` may stand between digits; empty lines and what follows a `#` or
/// `//` are passed over. Fails with `encoding-invalid`, whose place is `name` and the line.
Result<std::vector<Instruction>> parse_hex(std::string_view text, std::string_view name);

}  // namespace capra::ga2
