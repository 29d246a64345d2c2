// Fields go into the word from its top; none is wider than a word.
#include "capra/targets/ga2/isa/encoding.h"

#include <algorithm>
#include <optional>

#include "capra/base/number_text.h"
#include "capra/targets/ga2/isa/fields.h"

namespace capra::ga2 {
namespace {

constexpr int kOpcodeBits = 4;
constexpr int kInstructionBits = 128;
constexpr size_t kInstructionWords = std::tuple_size_v<Encoded>;

// Walks down from the highest bit.
class Cursor {
 public:
  /// The place of the next `bits` bits, counted from bit 0.
  int take(int bits) { return at_ -= bits; }

 private:
  int at_ = kInstructionBits;
};

void put(Encoded& encoded, int at, uint32_t value) {
  const auto word = static_cast<size_t>(at / 32);
  const uint64_t shifted = uint64_t{value} << (at % 32);
  encoded[word] |= static_cast<uint32_t>(shifted);
  if (word + 1 < encoded.size()) encoded[word + 1] |= static_cast<uint32_t>(shifted >> 32);
}

uint32_t get(const Encoded& encoded, int at, int bits) {
  const auto word = static_cast<size_t>(at / 32);
  uint64_t both = encoded[word];
  if (word + 1 < encoded.size()) both |= uint64_t{encoded[word + 1]} << 32;
  return static_cast<uint32_t>((both >> (at % 32)) & ((uint64_t{1} << bits) - 1));
}

}  // namespace

Encoded encode(const Instruction& instruction) {
  Encoded encoded{};
  Cursor cursor;
  put(encoded, cursor.take(kOpcodeBits), static_cast<uint32_t>(instruction.index()));
  std::visit(
      [&]<class T>(const T& one) {
        for_each_field<T>([&](const Field<T>& field) {
          CAPRA_CHECK(one.*field.member <= largest(field));
          put(encoded, cursor.take(field.bits), one.*field.member);
        });
      },
      instruction);
  return encoded;
}

Result<Instruction> decode(const Encoded& encoded) {
  Cursor cursor;
  const size_t opcode = get(encoded, cursor.take(kOpcodeBits), kOpcodeBits);
  std::optional<Instruction> decoded;
  size_t next = 0;
  for_each_record([&]<class T>(std::type_identity<T>) {
    if (next++ != opcode) return;
    T instruction;
    for_each_field<T>([&](const Field<T>& field) {
      instruction.*field.member = get(encoded, cursor.take(field.bits), field.bits);
    });
    decoded = instruction;
  });
  if (!decoded) {
    return fail("encoding-invalid", "there is no opcode " + number_text(opcode), {},
                "opcodes are 0 to " + number_text(std::variant_size_v<Instruction> - 1));
  }
  if (encode(*decoded) != encoded) {
    return fail("encoding-invalid", "bits below the fields are not 0");
  }
  return *decoded;
}

std::vector<uint32_t> encode_program(std::span<const Instruction> program) {
  std::vector<uint32_t> words;
  words.reserve(program.size() * kInstructionWords);
  for (const Instruction& one : program) {
    const Encoded encoded = encode(one);
    words.insert(words.end(), encoded.begin(), encoded.end());
  }
  return words;
}

Result<std::vector<Instruction>> decode_program(std::span<const uint32_t> words) {
  if (words.size() % kInstructionWords != 0) {
    return fail("encoding-invalid", "found " + number_text(words.size()) +
                                        " words, instructions have " +
                                        number_text(kInstructionWords) + " each");
  }
  std::vector<Instruction> program;
  for (size_t i = 0; i < words.size(); i += kInstructionWords) {
    Encoded encoded;
    std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(i), kInstructionWords, encoded.begin());
    Result<Instruction> decoded = decode(encoded);
    if (!decoded.ok()) {
      Diagnostic diagnostic = decoded.error();
      diagnostic.at = "instruction " + number_text(i / kInstructionWords);
      return fail(std::move(diagnostic));
    }
    program.push_back(*decoded);
  }
  return program;
}

}  // namespace capra::ga2
