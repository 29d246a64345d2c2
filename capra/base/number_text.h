// Numbers as text and back: the shortest form that reads back to the same bits.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace capra {

/// Shortest text that parses back to the same double: `0.5`, `1e-12`, `-0`, `nan`, `inf`, `-inf`.
std::string number_text(double value);
/// The same for a float (shortest among floats).
std::string number_text(float value);
std::string number_text(int64_t value);
std::string number_text(uint64_t value);
/// The same for every other integer.
template <std::integral T>
std::string number_text(T value) {
  using Widest = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  return number_text(static_cast<Widest>(value));
}

/// The whole of `text` as a number, or nothing. Takes what number_text prints, and no leading `+`.
std::optional<double> parse_f64(std::string_view text);
std::optional<float> parse_f32(std::string_view text);
std::optional<int64_t> parse_i64(std::string_view text);
std::optional<uint64_t> parse_u64(std::string_view text);

}  // namespace capra
