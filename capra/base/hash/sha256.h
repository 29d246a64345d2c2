// SHA-256 (FIPS 180-4) of bytes that come piece by piece.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace capra {

/// The hash of all bytes given so far. Throws `Error` (`hash-not-built`) in a build without the
/// library that computes it.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&& other) noexcept;
  Sha256& operator=(Sha256&& other) noexcept;

  void update(const void* bytes, size_t size);
  /// 64 lower-case hexadecimal digits; once, as the last call.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace capra
