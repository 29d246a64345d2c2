// A value or a diagnostic. The compilers of the floor have no std::expected.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "capra/base/diagnostic.h"

namespace capra {

/// A failure on its way to becoming a Result of any type.
struct Failure {
  std::unique_ptr<Diagnostic> diagnostic;
};

/// Makes a failure: `return fail("code", "what was found, what was needed", "where", "what to
/// do");`
inline Failure fail(std::string code, std::string message, std::string at = {},
                    std::string help = {}) {
  return {std::make_unique<Diagnostic>(
      Diagnostic{std::move(code), std::move(message), std::move(at), std::move(help)})};
}
inline Failure fail(Diagnostic diagnostic) {
  return {std::make_unique<Diagnostic>(std::move(diagnostic))};
}

/// Holds a T or the diagnostic that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Failure failure) : diagnostic_(std::move(failure.diagnostic)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  /// The value; only when ok().
  T& value() & {
    CAPRA_CHECK(ok());
    return *value_;
  }
  const T& value() const& {
    CAPRA_CHECK(ok());
    return *value_;
  }
  T&& value() && {
    CAPRA_CHECK(ok());
    return std::move(*value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// The diagnostic; only when not ok().
  const Diagnostic& error() const {
    CAPRA_CHECK(!ok());
    return *diagnostic_;
  }
  /// Hands the diagnostic on to a Result of another type.
  Failure take_failure() { return {std::move(diagnostic_)}; }

  /// The value, or throws `Error`: for code that builds tensors.
  T&& value_or_throw() && {
    if (!ok()) throw Error(*diagnostic_);
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
  std::unique_ptr<Diagnostic> diagnostic_;
};

/// Success or a diagnostic.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Failure failure) : diagnostic_(std::move(failure.diagnostic)) {}

  bool ok() const { return diagnostic_ == nullptr; }
  explicit operator bool() const { return ok(); }
  const Diagnostic& error() const {
    CAPRA_CHECK(!ok());
    return *diagnostic_;
  }
  Failure take_failure() { return {std::move(diagnostic_)}; }
  void or_throw() const {
    if (!ok()) throw Error(*diagnostic_);
  }

 private:
  std::unique_ptr<Diagnostic> diagnostic_;
};

using Status = Result<void>;

}  // namespace capra

#define CAPRA_CONCAT_(a, b) a##b
#define CAPRA_CONCAT(a, b) CAPRA_CONCAT_(a, b)

/// `CAPRA_TRY(f());` returns the failure of f() from the calling function, if it failed.
#define CAPRA_TRY(expression)                                   \
  do {                                                          \
    if (auto capra_result = (expression); !capra_result.ok()) { \
      return capra_result.take_failure();                       \
    }                                                           \
  } while (false)

/// `CAPRA_ASSIGN(auto x, f());` binds the value of f(), or returns its failure.
#define CAPRA_ASSIGN(declaration, expression) \
  CAPRA_ASSIGN_(CAPRA_CONCAT(capra_result_, __LINE__), declaration, expression)
#define CAPRA_ASSIGN_(result, declaration, expression) \
  auto result = (expression);                          \
  if (!result.ok()) return result.take_failure();      \
  declaration = *std::move(result)
