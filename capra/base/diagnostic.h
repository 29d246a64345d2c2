// What went wrong, for people and for scripts: a stable code, what was found and needed, where, and
// what to do. The codes are listed once, in diagnostic_codes.cc.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <string_view>

namespace capra {

/// One failure. `code` is stable and kebab-case; the texts are lower case, without a full stop.
struct Diagnostic {
  std::string code;
  std::string message;    ///< what was found, what was needed
  std::string at = {};    ///< file, byte offset, tensor or node path; may be empty
  std::string help = {};  ///< what to do; may be empty
  bool internal = false;  ///< a bug of ours, not of the input
};

/// The printed form: `error[code]: message`, then `  at:` and `  help:` lines where they are given.
std::string to_text(const Diagnostic& diagnostic);

/// A code and the one line that `capra explain` prints for it.
struct DiagnosticCode {
  std::string_view code;
  std::string_view line;
};

/// All codes, sorted by name.
std::span<const DiagnosticCode> diagnostic_codes();

/// The entry of `code`, or null.
const DiagnosticCode* find_diagnostic_code(std::string_view code);

/// Thrown by the eager and tracing calls on tensors; everything else returns `Result`.
class Error : public std::exception {
 public:
  explicit Error(Diagnostic diagnostic);
  const char* what() const noexcept override { return text_.c_str(); }
  const Diagnostic& diagnostic() const { return diagnostic_; }

 private:
  Diagnostic diagnostic_;
  std::string text_;
};

/// Reports a broken invariant (a bug) and aborts. Called by CAPRA_CHECK.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace capra

/// Aborts with a report when `condition` does not hold: for bugs, never for input.
#define CAPRA_CHECK(condition) \
  ((condition) ? (void)0 : ::capra::check_failed(#condition, __FILE__, __LINE__))
