// The printed form of a diagnostic, and the exception that carries one.
#include "capra/base/diagnostic.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace capra {
namespace {

// Names that a user or a file gave may hold what a terminal obeys, or a line of their own.
std::string in_one_line(std::string_view text) {
  constexpr char kDelete = 0x7F;
  constexpr const char* kDigits = "0123456789abcdef";
  std::string line;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (code < ' ' || c == kDelete) {
      line += "\\x";
      line += kDigits[code / 16];
      line += kDigits[code % 16];
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace

std::string to_text(const Diagnostic& diagnostic) {
  std::string text = diagnostic.internal ? "internal error[" : "error[";
  text += diagnostic.code + "]: " + in_one_line(diagnostic.message);
  if (!diagnostic.at.empty()) text += "\n  at: " + in_one_line(diagnostic.at);
  if (!diagnostic.help.empty()) text += "\n  help: " + in_one_line(diagnostic.help);
  return text;
}

Error::Error(Diagnostic diagnostic)
    : diagnostic_(std::move(diagnostic)), text_(to_text(diagnostic_)) {}

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "internal error[check-failed]: %s does not hold\n  at: %s:%d\n", condition,
               file, line);
  std::abort();
}

}  // namespace capra
