// The simulator: what each instruction does, what it costs, and which programs it refuses.
#include "capra/targets/ga2/sim/machine.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "capra/targets/ga2/isa/listing.h"
#include "capra/targets/ga2/quantize/fixed_point.h"

namespace capra::ga2 {
namespace {

std::vector<uint32_t> words_of(std::vector<int32_t> values) {
  return {values.begin(), values.end()};
}

// A machine after `program`, with `external` at 0 of its memory.
Machine after(std::vector<Instruction> program, std::vector<int32_t> external) {
  std::vector<uint32_t> memory = words_of(std::move(external));
  memory.resize(8192);
  Machine machine(std::move(memory));
  program.emplace_back(Halt{});
  const Status status = machine.run(program);
  EXPECT_TRUE(status.ok()) << to_text(status.error());
  return machine;
}

std::vector<int32_t> spad(const Machine& machine, size_t address, size_t count) {
  const auto words = machine.scratchpad().subspan(address, count);
  return {words.begin(), words.end()};
}

std::string refusal(std::string_view listing) {
  Machine machine(std::vector<uint32_t>(64));
  const Status status = machine.run(*parse_listing(listing, "p"));
  return status.ok() ? "" : status.error().at + ": " + status.error().message;
}

TEST(Machine, CountsAsThePublicationDoes) {
  const Machine machine = after({Load{0, 0, 4}}, {1, 2, 3, 4});
  EXPECT_EQ(machine.counters(), (Counters{17, 0, 13, 0, 1}));
}

// docs/ga2.md, section Cycles: 2 of each instruction belong to no unit.
TEST(Machine, EachUnitCountsItsOwnCycles) {
  EXPECT_EQ(cost(Halt{}), (Counters{2, 0, 0, 0, 0}));
  EXPECT_EQ(cost(Load{.len = 5}), (Counters{16, 0, 14, 0, 1}));
  EXPECT_EQ(cost(Store{.len = 5}), (Counters{9, 0, 7, 0, 1}));
  EXPECT_EQ(cost(Multiply{.m = 2, .k = 3, .n = 4}), (Counters{42, 40, 0, 0, 1}));
  EXPECT_EQ(cost(Requantize{.len = 5}), (Counters{9, 0, 0, 7, 1}));
  EXPECT_EQ(cost(Softmax{.len = 5}), (Counters{64, 0, 0, 62, 1}));
  EXPECT_EQ(cost(Add{.len = 5}), (Counters{14, 0, 0, 12, 1}));
  EXPECT_EQ(cost(Argmax{.len = 5}), (Counters{10, 0, 0, 8, 1}));
  EXPECT_EQ(cost(Unpack{.len = 5}), (Counters{49, 0, 0, 47, 1}));
}

TEST(Machine, StopsAtTheFirstHalt) {
  const Machine machine = after({Halt{}, Load{0, 0, 4}}, {1, 2, 3, 4});
  EXPECT_EQ(machine.counters(), (Counters{2, 0, 0, 0, 0}));
  EXPECT_EQ(spad(machine, 0, 4), (std::vector<int32_t>{0, 0, 0, 0}));
}

TEST(Machine, LoadsAndStores) {
  const Machine machine = after({Load{7, 1, 3}, Store{8, 100, 2}}, {9, -1, 2, 300});
  EXPECT_EQ(spad(machine, 6, 5), (std::vector<int32_t>{0, -1, 2, 300, 0}));
  EXPECT_EQ(machine.external()[100], 2u);
  EXPECT_EQ(machine.external()[101], 300u);
  EXPECT_EQ(machine.external()[102], 0u);
}

// Products of every shape, with gaps between rows, against sums written down once more.
TEST(Machine, MultipliesEveryShape) {
  std::mt19937 random(3);
  std::vector<int32_t> memory(4096);
  for (int32_t& one : memory) one = static_cast<int32_t>(random());
  for (uint32_t m = 1; m <= 4; ++m) {
    for (uint32_t n = 1; n <= 4; ++n) {
      for (const uint32_t k : {1u, 2u, 3u, 17u, 63u, 64u}) {
        for (uint32_t tb = 0; tb < 2; ++tb) {
          const Multiply one{3500, 5, 1000, m, k, n, tb, k + 3, tb != 0 ? k + 1 : n + 2, n + 5};
          const Machine machine = after({Load{0, 0, 3500}, one}, memory);
          for (uint32_t r = 0; r < m; ++r) {
            for (uint32_t c = 0; c < n; ++c) {
              int32_t sum = 0;
              for (uint32_t t = 0; t < k; ++t) {
                const uint32_t b = tb != 0 ? 1000 + c * (k + 1) + t : 1000 + t * (n + 2) + c;
                sum += static_cast<int8_t>(memory[5 + r * (k + 3) + t]) *
                       static_cast<int8_t>(memory[b]);
              }
              EXPECT_EQ(spad(machine, 3500 + r * (n + 5) + c, 1)[0], sum);
            }
          }
        }
      }
    }
  }
}

TEST(Machine, TakesTheLowByteOfAWordAndSaturates) {
  const Machine machine = after(
      {Load{0, 0, 4}, Load{10, 4, 4}, Add{20, 0, 10, 4}, Requantize{30, 0, 4, 1u << 23, 24, 0},
       Requantize{40, 0, 4, 1u << 23, 24, 1}, Argmax{50, 0, 4}},
      {100, -100, 0x1ff, 5, 100, -100, 1, 0x105});
  EXPECT_EQ(spad(machine, 20, 4), (std::vector<int32_t>{127, -127, 0, 10}));
  EXPECT_EQ(spad(machine, 30, 4), (std::vector<int32_t>{50, -50, 127, 3}));
  EXPECT_EQ(spad(machine, 40, 4), (std::vector<int32_t>{50, 0, 127, 3}));
  EXPECT_EQ(spad(machine, 50, 1), (std::vector<int32_t>{0}));
}

TEST(Machine, TheFirstMaximumCounts) {
  const Machine machine = after({Load{0, 0, 5}, Argmax{9, 0, 5}}, {-3, 4, 2, 4, 0x80});
  EXPECT_EQ(spad(machine, 9, 1)[0], 1);
}

TEST(Machine, UnpacksNibblesFromTheLowest) {
  const Machine machine =
      after({Load{0, 0, 1}, Unpack{8, 0, 1}}, {static_cast<int32_t>(0x8f7e6d10)});
  EXPECT_EQ(spad(machine, 8, 8), (std::vector<int32_t>{0, 1, -3, 6, -2, 7, -1, -8}));
}

TEST(Machine, ElementWiseResultsMayTakeTheirOperandsPlace) {
  const Machine machine = after(
      {Load{0, 0, 3}, Requantize{0, 0, 3, 1u << 23, 22, 0}, Add{0, 0, 0, 3}, Softmax{0, 0, 2}},
      {1, 2, 3});
  EXPECT_EQ(spad(machine, 2, 1)[0], 12);
  EXPECT_EQ(spad(machine, 0, 1)[0] + spad(machine, 1, 1)[0], 65536);
}

TEST(Machine, RefusesFieldsThatNoWordHolds) {
  const auto refusal_of = [](const Instruction& one) {
    Machine machine(std::vector<uint32_t>(64));
    const std::vector<Instruction> program{Load{0, 0, 1}, one, Halt{}};
    const Status status = machine.run(program);
    return status.ok() ? "" : status.error().at + ": " + status.error().message;
  };
  EXPECT_EQ(refusal_of(Requantize{0, 0, 1, 1, 64, 0}),
            "instruction 1: RQ   dst=0 src=0 len=1 m=1 s=64 relu=0: s is 0 to 63");
  EXPECT_EQ(refusal_of(Requantize{0, 0, 1, 1U << 24, 63, 0}),
            "instruction 1: RQ   dst=0 src=0 len=1 m=16777216 s=63 relu=0: m is 0 to 16777215");
  EXPECT_NE(refusal_of(Multiply{100, 0, 50, 1, 1, 1, 2, 1, 1, 1}), "");
  EXPECT_EQ(refusal_of(Requantize{0, 0, 1, (1U << 24) - 1, 63, 1}), "");
}

TEST(Machine, RefusesIllegalProgramsBeforeAnythingRuns) {
  EXPECT_EQ(refusal(""), "instruction 0: no HALT ends the program");
  EXPECT_EQ(refusal("LD dst=0 src=0 len=0\nHALT"),
            "instruction 0: LD   dst=0 src=0 len=0: len is 1 or more");
  EXPECT_EQ(refusal("LD dst=0 src=0 len=4\nLD dst=0 src=61 len=4\nHALT"),
            "instruction 1: LD   dst=0 src=61 len=4: src = 61 to 64, external memory has 64 words");
  EXPECT_EQ(refusal("ST src=4095 dst=0 len=2\nHALT"),
            "instruction 0: ST   src=4095 dst=0 len=2: src = 4095 to 4096, the scratchpad has 4096 "
            "words");
  EXPECT_EQ(
      refusal("MM dst=100 A=0 B=50 M=5 K=1 N=1 tb=0 lda=1 ldb=1 ldc=1\nHALT"),
      "instruction 0: MM   dst=100 A=0 B=50 M=5 K=1 N=1 tb=0 lda=1 ldb=1 ldc=1: M and N are 1 "
      "to 4");
  for (const char* listing : {
           "MM dst=100 A=4090 B=50 M=2 K=4 N=1 tb=0 lda=4 ldb=1 ldc=1\nHALT",
           "MM dst=100 A=0 B=4000 M=1 K=64 N=4 tb=0 lda=4 ldb=4 ldc=4\nHALT",
           "MM dst=4095 A=0 B=50 M=1 K=1 N=2 tb=0 lda=1 ldb=2 ldc=2\nHALT",
           "MM dst=2 A=0 B=50 M=1 K=4 N=1 tb=0 lda=4 ldb=1 ldc=1\nHALT",
           "MM dst=100 A=0 B=50 M=2 K=1 N=2 tb=0 lda=1 ldb=2 ldc=1\nHALT",
           "RQ dst=1 src=0 len=2 m=1 s=0 relu=0\nHALT",
           "SM dst=1 src=0 len=2\nHALT",
           "VADD dst=1 src1=8 src2=0 len=2\nHALT",
           "AMAX dst=1 src=0 len=2\nHALT",
           "UNPACK dst=0 src=0 len=1\nHALT",
           "UNPACK dst=4090 src=0 len=1\nHALT",
       }) {
    EXPECT_NE(refusal(listing), "") << listing;
  }
  EXPECT_EQ(refusal("HALT\nLD dst=0 src=0 len=0\n"), "");
}

// Nothing but the extents is wrong with these.
TEST(Machine, ProductsFitTheArray) {
  const auto reason = [](const std::string& extents) {
    const std::string text = "MM   dst=2000 A=0 B=1000 " + extents + " tb=0 lda=64 ldb=8 ldc=8";
    const std::string found = refusal(text + "\nHALT");
    const std::string start = "instruction 0: " + text + ": ";
    EXPECT_TRUE(found.starts_with(start)) << found;
    return found.substr(std::min(start.size(), found.size()));
  };
  for (const char* extents : {"M=5 K=1 N=1", "M=1 K=1 N=5", "M=0 K=1 N=1", "M=1 K=1 N=0"}) {
    EXPECT_EQ(reason(extents), "M and N are 1 to 4") << extents;
  }
  EXPECT_EQ(reason("M=1 K=65 N=1"), "K is 1 to 64");
  EXPECT_EQ(reason("M=1 K=0 N=1"), "K is 1 to 64");
}

TEST(Machine, TakesProgramsUpToTheLastWord) {
  for (const char* listing : {
           "LD dst=4095 src=63 len=1\nHALT",
           "ST src=4095 dst=63 len=1\nHALT",
           "AMAX dst=4095 src=0 len=4095\nHALT",
           "UNPACK dst=4088 src=4087 len=1\nHALT",
           // Neighbours, and a row alone, whose stride says nothing.
           "RQ dst=2 src=0 len=2 m=1 s=0 relu=0\nHALT",
           "MM dst=2000 A=0 B=1000 M=1 K=1 N=4 tb=0 lda=0 ldb=0 ldc=0\nHALT",
       }) {
    EXPECT_EQ(refusal(listing), "") << listing;
  }
}

}  // namespace
}  // namespace capra::ga2
