// Random legal programs for the chip and its simulator: every instruction, and the ends of its
// fields' ranges more often than what lies between.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "capra/targets/ga2/isa/instruction.h"

namespace capra::ga2 {

/// A legal program that ends in HALT, with the contents of external memory, of some size. It begins
/// by filling the scratchpad, all of it or a part.
struct RandomProgram {
  std::vector<Instruction> instructions;
  std::vector<uint32_t> external;
};

RandomProgram random_program(std::mt19937_64& random);

/// Products of every shape up to 4 x 4, with several lengths of sums, both orders of the second
/// operand, and gaps between rows.
RandomProgram every_shape(std::mt19937_64& random);

}  // namespace capra::ga2
