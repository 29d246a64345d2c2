// The printed form of a diagnostic, and the exception that carries one.
#include "capra/base/diagnostic.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace capra {

std::string to_text(const Diagnostic& diagnostic) {
  std::string text = diagnostic.internal ? "internal error[" : "error[";
  text += diagnostic.code + "]: " + diagnostic.message;
  if (!diagnostic.at.empty()) text += "\n  at: " + diagnostic.at;
  if (!diagnostic.help.empty()) text += "\n  help: " + diagnostic.help;
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
