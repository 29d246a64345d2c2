// The highest of the four words of an instruction comes first.
#include "capra/targets/ga2/isa/hex_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "capra/base/number_text.h"

namespace capra::ga2 {
namespace {

constexpr size_t kWordDigits = 8;
constexpr size_t kDigits = kWordDigits * std::tuple_size_v<Encoded>;

std::optional<uint32_t> digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return std::nullopt;
}

// One line; nothing where it is empty.
Result<std::optional<Instruction>> parse_line(std::string_view line) {
  line = line.substr(0, std::min(line.find('#'), line.find("//")));
  Encoded encoded{};
  size_t digits = 0;
  for (const char one : line) {
    if (one == ' ' || one == '\t' || one == '\r' || one == '_') continue;
    const std::optional<uint32_t> value = digit_value(one);
    if (!value) {
      return fail("encoding-invalid", "found a character that is no hexadecimal digit", {},
                  "write 32 digits for each instruction");
    }
    if (digits < kDigits) {
      uint32_t& word = encoded[encoded.size() - 1 - digits / kWordDigits];
      word = word << 4 | *value;
    }
    ++digits;
  }
  if (digits == 0) return std::optional<Instruction>();
  if (digits != kDigits) {
    return fail(
        "encoding-invalid",
        "found " + number_text(digits) + " digits, an instruction has " + number_text(kDigits), {},
        "write an instruction a line, 32 digits from bit 127 down");
  }
  CAPRA_ASSIGN(Instruction instruction, decode(encoded));
  return std::optional<Instruction>(instruction);
}

}  // namespace

std::string hex_line(const Encoded& words) {
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", words[3], words[2], words[1], words[0]);
}

std::string hex_text(std::span<const Instruction> program) {
  std::string text;
  text.reserve(program.size() * (kDigits + 1));
  for (const Instruction& one : program) text.append(hex_line(encode(one))).push_back('\n');
  return text;
}

std::string memory_hex_text(std::span<const uint32_t> words) {
  std::string text;
  text.reserve(words.size() * (kWordDigits + 1));
  for (const uint32_t word : words) fmt::format_to(std::back_inserter(text), "{:08x}\n", word);
  return text;
}

Result<std::vector<Instruction>> parse_hex(std::string_view text, std::string_view name) {
  std::vector<Instruction> program;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    Result<std::optional<Instruction>> parsed = parse_line(text.substr(0, end));
    if (!parsed.ok()) {
      Diagnostic diagnostic = parsed.error();
      diagnostic.at = fmt::format("{}:{}", name, line);
      return fail(std::move(diagnostic));
    }
    if (*parsed) program.push_back(**parsed);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return program;
}

}  // namespace capra::ga2
