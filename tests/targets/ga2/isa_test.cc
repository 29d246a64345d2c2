// Instructions as text and as words, there and back, and what is refused.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "capra/targets/ga2/isa/encoding.h"
#include "capra/targets/ga2/isa/fields.h"
#include "capra/targets/ga2/isa/listing.h"
#include "tests/targets/ga2/golden_files.h"

namespace capra::ga2 {
namespace {

std::string refusal(std::string_view text) {
  const Result<std::vector<Instruction>> program = parse_listing(text, "p");
  return program.ok() ? "" : to_text(program.error());
}

// Any instruction whose fields fit, with the ends of their ranges more often than others.
Instruction any_instruction(std::mt19937_64& random) {
  Instruction made;
  size_t wanted = random() % std::variant_size_v<Instruction>;
  for_each_record([&]<class T>(std::type_identity<T>) {
    if (wanted-- != 0) return;
    T one;
    for_each_field<T>([&](const Field<T>& field) {
      const uint64_t choice = random() % 4;
      one.*field.member = static_cast<uint32_t>(choice == 0   ? 0
                                                : choice == 1 ? largest(field)
                                                              : random() % (largest(field) + 1));
    });
    made = one;
  });
  return made;
}

TEST(Listing, PrintsAsPublished) {
  EXPECT_EQ(instruction_text(Load{0, 60, 120}), "LD   dst=0 src=60 len=120");
  EXPECT_EQ(instruction_text(Store{15, 325, 5}), "ST   src=15 dst=325 len=5");
  EXPECT_EQ(instruction_text(Multiply{270, 48, 60, 1, 12, 4, 0, 12, 10, 10}),
            "MM   dst=270 A=48 B=60 M=1 K=12 N=4 tb=0 lda=12 ldb=10 ldc=10");
  EXPECT_EQ(instruction_text(Requantize{180, 230, 50, 14251070, 31, 1}),
            "RQ   dst=180 src=230 len=50 m=14251070 s=31 relu=1");
  EXPECT_EQ(instruction_text(Unpack{0, 135, 17}), "UNPACK dst=0 src=135 len=17");
  EXPECT_EQ(instruction_text(Halt{}), "HALT");
}

TEST(Listing, EveryGoldenListingAndAnyInstructionGoThereAndBack) {
  for (const std::string& name : golden_names()) {
    const Json file = golden_file(name);
    const Json* listing = expected(file, "listing");
    if (listing == nullptr) continue;
    std::string text;
    for (const Json& line : listing->items()) text += *line.as_string() + "\n";
    const Result<std::vector<Instruction>> program = parse_listing(text, name);
    ASSERT_TRUE(program.ok()) << to_text(program.error());
    EXPECT_EQ(listing_text(*program), text);
    const Result<std::vector<Instruction>> decoded = decode_program(encode_program(*program));
    ASSERT_TRUE(decoded.ok()) << to_text(decoded.error());
    EXPECT_EQ(*decoded, *program);
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 5000; ++i) {
    const Instruction one = any_instruction(random);
    const Result<std::vector<Instruction>> parsed = parse_listing(instruction_text(one), "p");
    ASSERT_TRUE(parsed.ok()) << to_text(parsed.error());
    EXPECT_EQ(parsed->at(0), one);
    const Result<Instruction> decoded = decode(encode(one));
    ASSERT_TRUE(decoded.ok()) << to_text(decoded.error());
    EXPECT_EQ(*decoded, one);
  }
}

TEST(Listing, TakesNumbersCommentsAndEmptyLines) {
  const Result<std::vector<Instruction>> program =
      parse_listing("# a program\n\n    0  LD   dst=0 src=0 len=4\r\n  1  HALT # the end", "p");
  ASSERT_TRUE(program.ok()) << to_text(program.error());
  EXPECT_EQ(*program, (std::vector<Instruction>{Load{0, 0, 4}, Halt{}}));
  EXPECT_TRUE(parse_listing("", "p").ok());
}

TEST(Listing, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal("HALT\nJMP x=1\n"),
            "error[listing-invalid]: there is no instruction JMP\n  at: p:2\n"
            "  help: use one of HALT, LD, ST, MM, RQ, SM, VADD, AMAX, UNPACK");
  // Bytes that are no UTF-8 become U+FFFD, as in messages about JSON.
  EXPECT_EQ(refusal("LD \xff\x80 src=0 len=1"),
            "error[listing-invalid]: found '\xEF\xBF\xBD\xEF\xBF\xBD' where LD has dst=\n"
            "  at: p:1\n"
            "  help: write the fields in the order in which they are printed");
  EXPECT_EQ(refusal("LD dst=0 src=0"),
            "error[listing-invalid]: found 2 fields, LD has 3\n  at: p:1\n"
            "  help: LD has dst, src, len");
  EXPECT_EQ(refusal("LD src=0 dst=0 len=1"),
            "error[listing-invalid]: found 'src=0' where LD has dst=\n  at: p:1\n"
            "  help: write the fields in the order in which they are printed");
  EXPECT_EQ(refusal("LD dst=4096 src=0 len=1"),
            "error[listing-invalid]: found 'dst=4096', dst is a number from 0 to 4095\n  at: p:1\n"
            "  help: write dst= and a number that the field holds");
  for (const char* text : {"LD dst=-1 src=0 len=1", "LD dst=0x1 src=0 len=1", "LD dst= src=0 len=1",
                           "LD dst=99999999999999999999 src=0 len=1", "1 HALT", "0", "halt"}) {
    EXPECT_NE(refusal(text).find("error[listing-invalid]"), std::string::npos) << text;
  }
}

TEST(Encoding, HasTheOpcodeInTheTopNibbleAndTheFieldsBelow) {
  EXPECT_EQ(encode(Halt{}), (Encoded{0, 0, 0, 0}));
  // dst in bits 112 to 123, src in 88 to 111, len in 75 to 87.
  EXPECT_EQ(encode(Load{0xabc, 0x123456, 0x1fff}), (Encoded{0, 0, 0x56fff800, 0x1abc1234}));
  EXPECT_EQ(encode(Unpack{1, 0, 0})[3], 0x80010000u);
  // The order of docs/ga2.md; LD and HALT are the published ones.
  const Instruction kByOpcode[] = {Halt{},    Load{}, Store{},  Multiply{}, Requantize{},
                                   Softmax{}, Add{},  Argmax{}, Unpack{}};
  for (uint32_t opcode = 0; opcode < std::size(kByOpcode); ++opcode) {
    EXPECT_EQ(encode(kByOpcode[opcode])[3] >> 28, opcode);
  }
}

TEST(Encoding, CutsNoField) {
  EXPECT_DEATH(static_cast<void>(encode(Load{.dst = 4096})), "check-failed");
  EXPECT_DEATH(static_cast<void>(encode(Multiply{.m = 8})), "check-failed");
}

TEST(Encoding, RefusesWhatNoInstructionIs) {
  for (uint32_t opcode = 9; opcode < 16; ++opcode) {
    EXPECT_EQ(decode({0, 0, 0, opcode << 28}).error().code, "encoding-invalid");
  }
  EXPECT_EQ(decode({1, 0, 0, 0}).error().code, "encoding-invalid");
  EXPECT_EQ(decode({0, 0, 1, 0x1abc1234}).error().code, "encoding-invalid");
  const std::vector<uint32_t> words = {0, 0, 0, 0, 0, 0, 0, 0xf0000000};
  EXPECT_EQ(decode_program(words).error().at, "instruction 1");
  EXPECT_EQ(decode_program(std::span(words).first(5)).error().message,
            "found 5 words, instructions have 4 each");
}

}  // namespace
}  // namespace capra::ga2
