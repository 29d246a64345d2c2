// What a program must keep to: the ranges of its fields and of its accesses.
#pragma once

#include <span>

#include "capra/base/result.h"
#include "capra/targets/ga2/isa/instruction.h"

namespace capra::ga2 {

/// Whether the chip runs the program with `external_words` of external memory: every access lies in
/// its memory, counts are 1 or more, products fit the array, a result lies apart from what it is
/// made of (element by element it may take the place of an operand), and a HALT ends it. Fails with
/// `program-illegal`: the instruction's number, its text and the reason.
Status check_program(std::span<const Instruction> program, int64_t external_words);

}  // namespace capra::ga2
