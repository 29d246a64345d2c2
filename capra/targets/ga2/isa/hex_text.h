// Programs and memory as text of hexadecimal digits, as the chip's memories are filled with them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/result.h"
#include "capra/targets/ga2/isa/encoding.h"
#include "capra/targets/ga2/isa/instruction.h"

namespace capra::ga2 {

/// An instruction a line: 32 digits, bit 127 first.
std::string hex_text(std::span<const Instruction> program);

/// The line of one instruction, without its end, be it legal or not.
std::string hex_line(const Encoded& words);

/// Memory: a word a line, 8 digits.
std::string memory_hex_text(std::span<const uint32_t> words);

/// The way back of `hex_text`. Spaces and `_` may stand between digits; empty lines and what
/// follows a `#` or `//` are passed over. Fails with `encoding-invalid`, whose place is `name` and
/// the line.
Result<std::vector<Instruction>> parse_hex(std::string_view text, std::string_view name);

}  // namespace capra::ga2
