// Words for what a command line lacks.
#include "tools/capra/usage.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "capra/base/nearest_name.h"
#include "capra/base/number_text.h"
#include "tools/capra/command.h"
#include "tools/capra/output.h"

namespace capra::driver {
namespace {

// Whether `text` is within the range, and what it should be if not.
template <class Number>
std::string outside(std::optional<Number> value, const std::string& text, const char* kind,
                    Number least, Number most) {
  if (value && least <= *value && *value <= most) return {};
  std::string range;
  if (most != std::numeric_limits<Number>::max()) {
    range = fmt::format(" from {} to {}", number_text(least), number_text(most));
  } else if (least != std::numeric_limits<Number>::lowest()) {
    range = fmt::format(" of {} or more", number_text(least));
  }
  return fmt::format("'{}' is no {}{}", text, kind, range);
}

std::string help_of(const std::string& command) { return "see '" + command + " --help'"; }

}  // namespace

ValueCheck whole_number(int64_t least, int64_t most) {
  return [=](const std::string& text) {
    return outside(parse_i64(text), text, "whole number", least, most);
  };
}

ValueCheck number(double least, double most) {
  return [=](const std::string& text) {
    return outside(parse_f64(text), text, "number", least, most);
  };
}

Failure unknown_word(const std::string& word, bool has_commands, const std::string& command,
                     const std::vector<std::string>& known) {
  const std::string what = word.starts_with('-') ? "option" : has_commands ? "command" : "argument";
  const std::string of = what == "command" ? "" : " of '" + command + "'";
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string_view nearest = nearest_name(word.substr(0, word.find('=')), names);
  return fail(
      "command-line", fmt::format("there is no {} '{}'{}", what, word, of), command,
      (nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest)) + help_of(command));
}

Failure bad_value(const std::string& said, const std::string& command) {
  // The option is the place.
  const size_t colon = said.find(": ");
  if (!said.starts_with("--") || colon == std::string::npos) {
    return fail("option-invalid", said, command, help_of(command));
  }
  return fail("option-invalid", said.substr(colon + 2), said.substr(0, colon), help_of(command));
}

Failure bad_line(const std::string& said, const std::string& command) {
  return fail("command-line", said, command, help_of(command));
}

Command printing(std::string text) {
  return [text = std::move(text)]() -> Result<int> {
    CAPRA_TRY(print_result(text));
    return kDone;
  };
}

}  // namespace capra::driver
