// The cycles of each instruction.
#include "capra/targets/ga2/isa/instruction.h"

namespace capra::ga2 {
namespace {

constexpr int64_t kDispatch = 2;
constexpr int64_t kMemoryLatency = 8;

// The cycles of the unit that works, and which it is.
struct Work {
  int64_t Counters::* unit;
  int64_t cycles;
};

struct WorkOf {
  Work operator()(const Halt&) const { return {&Counters::vector, 0}; }
  Work operator()(const Load& one) const {
    return {&Counters::transfer, kMemoryLatency + 1 + int64_t{one.len}};
  }
  Work operator()(const Store& one) const { return {&Counters::transfer, 2 + int64_t{one.len}}; }
  // Both operands go in and the result comes out one word a cycle; the array takes k + m + n.
  Work operator()(const Multiply& one) const {
    const int64_t m = one.m;
    const int64_t k = one.k;
    const int64_t n = one.n;
    return {&Counters::matrix, 5 + m * k + k * n + m * n + k + m + n};
  }
  Work operator()(const Requantize& one) const { return {&Counters::vector, 2 + int64_t{one.len}}; }
  // Three walks over the row and one division of 40 bits, a bit a cycle.
  Work operator()(const Softmax& one) const {
    return {&Counters::vector, 47 + 3 * int64_t{one.len}};
  }
  Work operator()(const Add& one) const { return {&Counters::vector, 2 + 2 * int64_t{one.len}}; }
  Work operator()(const Argmax& one) const { return {&Counters::vector, 3 + int64_t{one.len}}; }
  // A packed word is read in one cycle and leaves in eight.
  Work operator()(const Unpack& one) const { return {&Counters::vector, 2 + 9 * int64_t{one.len}}; }
};

}  // namespace

Counters& Counters::operator+=(const Counters& other) {
  total += other.total;
  matrix += other.matrix;
  transfer += other.transfer;
  vector += other.vector;
  instructions += other.instructions;
  return *this;
}

Counters cost(const Instruction& instruction) {
  const Work work = std::visit(WorkOf{}, instruction);
  Counters counters{.total = kDispatch + work.cycles,
                    .instructions = std::holds_alternative<Halt>(instruction) ? 0 : 1};
  counters.*work.unit = work.cycles;
  return counters;
}

Counters cost(std::span<const Instruction> program) {
  Counters counters;
  for (const Instruction& one : program) counters += cost(one);
  return counters;
}

}  // namespace capra::ga2
