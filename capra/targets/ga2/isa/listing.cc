// Printing and reading fields by their records.
#include "capra/targets/ga2/isa/listing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "capra/base/number_text.h"
#include "capra/base/text/utf8.h"
#include "capra/targets/ga2/isa/fields.h"

namespace capra::ga2 {
namespace {

// The words of a line, up to a comment.
std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kSpaces = " \t\r";
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  for (size_t at = line.find_first_not_of(kSpaces); at != std::string_view::npos;
       at = line.find_first_not_of(kSpaces, at)) {
    const size_t end = std::min(line.find_first_of(kSpaces, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

// `name=value` with the name of the field and a value that its bits hold.
template <class T>
Result<uint32_t> field_value(std::string_view word, const Field<T>& field) {
  const std::string needed = std::string(field.name) + "=";
  if (!word.starts_with(needed)) {
    return fail(
        "listing-invalid",
        "found '" + std::string(word) + "' where " + std::string(T::kMnemonic) + " has " + needed,
        {}, "write the fields in the order in which they are printed");
  }
  const std::optional<uint64_t> value = parse_u64(word.substr(needed.size()));
  if (!value || *value > largest(field)) {
    return fail("listing-invalid",
                "found '" + std::string(word) + "', " + std::string(field.name) +
                    " is a number from 0 to " + number_text(largest(field)),
                {}, "write " + needed + " and a number that the field holds");
  }
  return static_cast<uint32_t>(*value);
}

// `dst, src, len`
template <class T>
std::string field_names() {
  std::string names;
  for_each_field<T>(
      [&](const Field<T>& field) { names.append(names.empty() ? "" : ", ").append(field.name); });
  return names.empty() ? "no fields" : names;
}

template <class T>
Result<Instruction> parse_fields(std::span<const std::string_view> words) {
  constexpr size_t kFields = std::tuple_size_v<decltype(T::fields())>;
  if (words.size() != kFields) {
    return fail("listing-invalid",
                "found " + number_text(words.size()) + " fields, " + std::string(T::kMnemonic) +
                    " has " + number_text(kFields),
                {}, std::string(T::kMnemonic) + " has " + field_names<T>());
  }
  T instruction;
  Status status;
  size_t next = 0;
  for_each_field<T>([&](const Field<T>& field) {
    if (!status.ok()) return;
    Result<uint32_t> value = field_value(words[next++], field);
    if (value.ok()) {
      instruction.*field.member = *value;
    } else {
      status = value.take_failure();
    }
  });
  if (!status.ok()) return status.take_failure();
  return Instruction(instruction);
}

std::vector<std::string_view> mnemonics() {
  std::vector<std::string_view> all;
  for_each_record([&]<class T>(std::type_identity<T>) { all.push_back(T::kMnemonic); });
  return all;
}

Result<Instruction> parse_words(std::span<const std::string_view> words) {
  std::optional<Result<Instruction>> parsed;
  for_each_record([&]<class T>(std::type_identity<T>) {
    if (T::kMnemonic == words[0]) parsed = parse_fields<T>(words.subspan(1));
  });
  if (parsed) return *std::move(parsed);
  return fail("listing-invalid", "there is no instruction " + std::string(words[0]), {},
              fmt::format("use one of {}", fmt::join(mnemonics(), ", ")));
}

// One line; nothing where it is empty.
Result<std::optional<Instruction>> parse_line(std::string_view line, size_t number) {
  std::vector<std::string_view> words = words_of(line);
  if (words.empty()) return std::optional<Instruction>();
  if (const std::optional<uint64_t> said = parse_u64(words[0])) {
    if (*said != number) {
      return fail(
          "listing-invalid",
          "found number " + std::string(words[0]) + " before instruction " + number_text(number),
          {}, "number the instructions from 0 on, or leave the numbers out");
    }
    words.erase(words.begin());
    if (words.empty()) {
      return fail("listing-invalid", "a number without an instruction", {},
                  "write the instruction behind its number, or leave the line out");
    }
  }
  CAPRA_ASSIGN(Instruction instruction, parse_words(words));
  return std::optional<Instruction>(instruction);
}

}  // namespace

std::string instruction_text(const Instruction& instruction) {
  return std::visit(
      []<class T>(const T& one) {
        std::string text(T::kMnemonic);
        for_each_field<T>([&](const Field<T>& field) {
          if (text.size() < 4) text.resize(4, ' ');
          text += " " + std::string(field.name) + "=" + number_text(one.*field.member);
        });
        return text;
      },
      instruction);
}

std::string listing_text(std::span<const Instruction> program) {
  std::string text;
  for (const Instruction& one : program) text += instruction_text(one) + "\n";
  return text;
}

Result<std::vector<Instruction>> parse_listing(std::string_view text, std::string_view name) {
  std::vector<Instruction> program;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    Result<std::optional<Instruction>> parsed = parse_line(text.substr(0, end), program.size());
    if (!parsed.ok()) {
      Diagnostic diagnostic = parsed.error();
      diagnostic.message = repair_utf8(diagnostic.message).text;
      diagnostic.at = std::string(name) + ":" + number_text(line);
      return fail(std::move(diagnostic));
    }
    if (*parsed) program.push_back(**parsed);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return program;
}

}  // namespace capra::ga2
