// Which words of the scratchpad an instruction reads and writes.
#pragma once

#include <cstdint>
#include <vector>

#include "capra/targets/ga2/isa/instruction.h"

namespace capra::ga2 {

struct Words {
  int64_t address = 0;
  int64_t count = 0;
};

/// Runs of words, of products a run a row.
struct Access {
  std::vector<Words> reads;
  std::vector<Words> writes;
};

/// Of a legal instruction.
Access access_of(const Instruction& instruction);

}  // namespace capra::ga2
