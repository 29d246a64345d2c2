// Random legal programs on the simulator, against a reading of the instructions word by word.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "capra/targets/ga2/isa/listing.h"
#include "capra/targets/ga2/sim/machine.h"
#include "tests/targets/ga2/random_programs.h"

namespace capra::ga2 {
namespace {

// docs/ga2.md, one word after the other, in whole numbers that cannot overflow.
class SlowReading {
 public:
  SlowReading(std::vector<uint32_t> memory)
      : external(std::move(memory)), spad(static_cast<size_t>(kScratchpadWords), 0) {}

  void operator()(const Halt&) { cycles += 2; }

  void operator()(const Load& one) {
    for (uint32_t i = 0; i < one.len; ++i) spad.at(one.dst + i) = external.at(one.src + i);
    cycles += 11 + one.len;
  }

  void operator()(const Store& one) {
    for (uint32_t i = 0; i < one.len; ++i) external.at(one.dst + i) = spad.at(one.src + i);
    cycles += 4 + one.len;
  }

  void operator()(const Multiply& one) {
    for (uint32_t r = 0; r < one.m; ++r) {
      for (uint32_t c = 0; c < one.n; ++c) {
        int64_t sum = 0;
        for (uint32_t t = 0; t < one.k; ++t) {
          const uint32_t b = one.tb == 1 ? one.b + c * one.ldb + t : one.b + t * one.ldb + c;
          sum += low_byte(one.a + r * one.lda + t) * low_byte(b);
        }
        put(one.dst + r * one.ldc + c, sum);
      }
    }
    const uint32_t m = one.m, k = one.k, n = one.n;
    cycles += 7 + m * k + k * n + m * n + k + m + n;
  }

  void operator()(const Requantize& one) {
    for (uint32_t i = 0; i < one.len; ++i) {
      const uint32_t word = spad.at(one.src + i);
      const int64_t value = word < 0x80000000U ? int64_t{word} : int64_t{word} - 0x100000000;
      const uint64_t scaled = static_cast<uint64_t>(std::abs(value)) * one.m;
      const uint64_t whole = scaled >> one.s;
      const bool up = one.s > 0 && (scaled >> (one.s - 1)) % 2 == 1;
      const auto size = static_cast<int64_t>(std::min<uint64_t>(127, whole + (up ? 1 : 0)));
      const int64_t level = value < 0 ? -size : size;
      put(one.dst + i, one.relu == 1 && level < 0 ? 0 : level);
    }
    cycles += 4 + one.len;
  }

  void operator()(const Softmax& one) {
    int64_t most = -128;
    for (uint32_t i = 0; i < one.len; ++i) most = std::max(most, low_byte(one.src + i));
    std::vector<uint64_t> powers;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < one.len; ++i) {
      const auto steps = static_cast<double>(most - low_byte(one.src + i));
      powers.push_back(static_cast<uint64_t>(std::floor(65535 * std::exp(-steps / 16) + 0.5)));
      sum += powers.back();
    }
    const uint64_t reciprocal = (uint64_t{1} << 38) / sum;
    for (uint32_t i = 0; i < one.len; ++i) {
      put(one.dst + i, static_cast<int64_t>((powers[i] * reciprocal + (1U << 21)) >> 22));
    }
    cycles += 49 + 3 * one.len;
  }

  void operator()(const Add& one) {
    for (uint32_t i = 0; i < one.len; ++i) {
      const int64_t sum = low_byte(one.src1 + i) + low_byte(one.src2 + i);
      put(one.dst + i, std::max<int64_t>(-127, std::min<int64_t>(127, sum)));
    }
    cycles += 4 + 2 * one.len;
  }

  void operator()(const Argmax& one) {
    uint32_t best = one.len;
    for (uint32_t i = one.len; i-- > 0;) {
      if (best == one.len || low_byte(one.src + i) >= low_byte(one.src + best)) best = i;
    }
    put(one.dst, best);
    cycles += 5 + one.len;
  }

  void operator()(const Unpack& one) {
    for (uint32_t i = 0; i < one.len; ++i) {
      const uint32_t word = spad.at(one.src + i);
      for (uint32_t j = 0; j < 8; ++j) {
        const int64_t nibble = word / (1U << (4 * j)) % 16;
        put(one.dst + 8 * i + j, nibble < 8 ? nibble : nibble - 16);
      }
    }
    cycles += 4 + 9 * one.len;
  }

  std::vector<uint32_t> external;
  std::vector<uint32_t> spad;
  int64_t cycles = 0;

 private:
  int64_t low_byte(uint32_t address) const {
    const int64_t byte = spad.at(address) % 256;
    return byte < 128 ? byte : byte - 256;
  }
  void put(uint32_t address, int64_t value) { spad.at(address) = static_cast<uint32_t>(value); }
};

TEST(RandomPrograms, DoWhatEachWordsReadingSays) {
  std::vector<int64_t> seen(std::variant_size_v<Instruction>);
  std::mt19937_64 random(1);
  for (int count = 0; count < 300; ++count) {
    const RandomProgram made = random_program(random);
    const std::vector<Instruction>& program = made.instructions;
    SlowReading slow(made.external);
    Machine machine(made.external);
    size_t wrong = program.size();
    const Status status = machine.run(program, [&](size_t i, const Instruction& one) {
      ++seen[one.index()];
      std::visit(slow, one);
      const bool same = std::ranges::equal(machine.scratchpad(), slow.spad) &&
                        std::ranges::equal(machine.external(), slow.external) &&
                        machine.counters().total == slow.cycles;
      if (!same) wrong = std::min(wrong, i);
    });
    ASSERT_TRUE(status.ok()) << to_text(status.error());
    ASSERT_EQ(wrong, program.size())
        << "program " << count << ": " << instruction_text(program[wrong]) << " differs";
  }
  for (const int64_t count : seen) EXPECT_GE(count, 300);
}

}  // namespace
}  // namespace capra::ga2
