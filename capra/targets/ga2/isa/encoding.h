// Programs as the words that the chip fetches.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "capra/base/result.h"
#include "capra/targets/ga2/isa/instruction.h"

namespace capra::ga2 {

/// One instruction of 128 bits; word 0 has the bits 0 to 31. The opcode stands in the bits 124 to
/// 127, the fields below it in printed order without gaps, and zeros below them.
using Encoded = std::array<uint32_t, 4>;

/// Every field fits its bits.
Encoded encode(const Instruction& instruction);

/// The way back. Fails with `encoding-invalid` for an opcode that does not exist and for ones where
/// zeros must stand.
Result<Instruction> decode(const Encoded& encoded);

/// All instructions, one after the other, word 0 first.
std::vector<uint32_t> encode_program(std::span<const Instruction> program);
/// The way back. Fails as `decode` does, with the instruction's number, and for words that are no
/// whole number of instructions.
Result<std::vector<Instruction>> decode_program(std::span<const uint32_t> words);

}  // namespace capra::ga2
