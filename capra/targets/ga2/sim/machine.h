// The chip, simulated: the same memory and the same counters after every instruction.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "capra/base/result.h"
#include "capra/targets/ga2/isa/instruction.h"

namespace capra::ga2 {

/// One chip with its external memory. The scratchpad begins as zeros.
class Machine {
 public:
  explicit Machine(std::vector<uint32_t> external);

  /// Called after each instruction with its number.
  using Observer = std::function<void(size_t number, const Instruction& instruction)>;

  /// Runs the program to its HALT. Fails with `program-illegal` before anything runs.
  Status run(std::span<const Instruction> program, const Observer& observe = nullptr);

  std::span<const uint32_t> external() const { return external_; }
  std::span<const uint32_t> scratchpad() const { return scratchpad_; }
  /// Of all runs.
  const Counters& counters() const { return counters_; }

 private:
  struct Execute;

  std::vector<uint32_t> external_;
  std::vector<uint32_t> scratchpad_;
  Counters counters_;
};

}  // namespace capra::ga2
