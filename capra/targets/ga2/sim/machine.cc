// What each instruction does to the memories. The program is legal: every access lies inside, and
// no result lies where an operand has still to be read.
#include "capra/targets/ga2/sim/machine.h"

#include <algorithm>
#include <array>
#include <utility>

#include "capra/targets/ga2/isa/program_check.h"
#include "capra/targets/ga2/quantize/fixed_point.h"

namespace capra::ga2 {

struct Machine::Execute {
  uint32_t* spad;
  uint32_t* external;

  void operator()(const Halt&) const {}

  void operator()(const Load& one) const {
    std::copy_n(external + one.src, one.len, spad + one.dst);
  }

  void operator()(const Store& one) const {
    std::copy_n(spad + one.src, one.len, external + one.dst);
  }

  // Both operands are gathered as rows along k, so that each sum walks over neighbours.
  void operator()(const Multiply& one) const {
    std::array<std::array<int16_t, kMostInner>, kTile> a{};
    std::array<std::array<int16_t, kMostInner>, kTile> b{};
    for (uint32_t r = 0; r < one.m; ++r) {
      for (uint32_t t = 0; t < one.k; ++t) a[r][t] = level(one.a + r * one.lda + t);
    }
    for (uint32_t c = 0; c < one.n; ++c) {
      const uint32_t first = one.b + (one.tb != 0 ? c * one.ldb : c);
      const uint32_t step = one.tb != 0 ? 1 : one.ldb;
      for (uint32_t t = 0; t < one.k; ++t) b[c][t] = level(first + t * step);
    }
    for (uint32_t r = 0; r < one.m; ++r) {
      for (uint32_t c = 0; c < one.n; ++c) {
        int32_t sum = 0;
        // Beyond k stand zeros.
        for (size_t t = 0; t < kMostInner; ++t) sum += int32_t{a[r][t]} * b[c][t];
        spad[one.dst + r * one.ldc + c] = static_cast<uint32_t>(sum);
      }
    }
  }

  void operator()(const Requantize& one) const {
    for (uint32_t i = 0; i < one.len; ++i) {
      const auto accumulator = static_cast<int32_t>(spad[one.src + i]);
      spad[one.dst + i] =
          static_cast<uint32_t>(requantize(accumulator, {one.m, one.s}, one.relu != 0));
    }
  }

  void operator()(const Softmax& one) const {
    std::array<int32_t, kScratchpadWords> row;
    for (uint32_t i = 0; i < one.len; ++i) row[i] = level(one.src + i);
    softmax_row({row.data(), one.len}, {spad + one.dst, one.len});
  }

  void operator()(const Add& one) const {
    for (uint32_t i = 0; i < one.len; ++i) {
      const int32_t sum = level(one.src1 + i) + level(one.src2 + i);
      spad[one.dst + i] = static_cast<uint32_t>(clamp_level(sum));
    }
  }

  void operator()(const Argmax& one) const {
    uint32_t best = 0;
    for (uint32_t i = 1; i < one.len; ++i) {
      if (level(one.src + i) > level(one.src + best)) best = i;
    }
    spad[one.dst] = best;
  }

  void operator()(const Unpack& one) const {
    for (uint32_t i = 0; i < kPackedValues * one.len; ++i) {
      const uint32_t packed = spad[one.src + i / kPackedValues];
      const uint32_t nibble = (packed >> (4 * (i % kPackedValues))) & 0xf;
      spad[one.dst + i] = (nibble ^ 8) - 8;
    }
  }

  int16_t level(uint32_t address) const { return static_cast<int16_t>(as_s8(spad[address])); }
};

Machine::Machine(std::vector<uint32_t> external)
    : external_(std::move(external)), scratchpad_(kScratchpadWords, 0) {}

Status Machine::run(std::span<const Instruction> program, const Observer& observe) {
  CAPRA_TRY(check_program(program, static_cast<int64_t>(external_.size())));
  const Execute execute{scratchpad_.data(), external_.data()};
  for (size_t i = 0; i < program.size(); ++i) {
    std::visit(execute, program[i]);
    counters_ += cost(program[i]);
    if (observe) observe(i, program[i]);
    if (std::holds_alternative<Halt>(program[i])) break;
  }
  return {};
}

}  // namespace capra::ga2
