// Programs as text: one instruction a line.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/result.h"
#include "capra/targets/ga2/isa/instruction.h"

namespace capra::ga2 {

/// `LD   dst=0 src=60 len=120`: the mnemonic, padded to four letters, and every field.
std::string instruction_text(const Instruction& instruction);

/// All instructions, each ended by a line end.
std::string listing_text(std::span<const Instruction> program);

/// The way back. A line may begin with its number, counted from 0; empty lines and what follows a
/// `#` are passed over. Fails with `listing-invalid`, whose place is `name` and the line.
Result<std::vector<Instruction>> parse_listing(std::string_view text, std::string_view name);

}  // namespace capra::ga2
