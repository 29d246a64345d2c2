// std::to_chars and std::from_chars, with the spelling of non-finite values fixed.
#include "capra/base/number_text.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace capra {
namespace {

template <class T>
std::string print(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  }
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  return std::string(digits, end.ptr);
}

template <class T>
std::optional<T> parse(std::string_view text) {
  if constexpr (std::is_floating_point_v<T>) {
    if (text == "nan") return std::numeric_limits<T>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<T>::infinity();
    if (text == "-inf") return -std::numeric_limits<T>::infinity();
    // from_chars also takes other spellings of these, `nan(1)` among them; ours is the only one.
    const size_t first = text.starts_with('-') ? 1 : 0;
    if (text.find_first_of("0123456789.", first) != first) return std::nullopt;
  }
  T value{};
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ptr != text.data() + text.size()) return std::nullopt;
  if (end.ec != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

std::string number_text(double value) { return print(value); }
std::string number_text(float value) { return print(value); }
std::string number_text(int64_t value) { return print(value); }
std::string number_text(uint64_t value) { return print(value); }

std::optional<double> parse_f64(std::string_view text) { return parse<double>(text); }
std::optional<float> parse_f32(std::string_view text) { return parse<float>(text); }
std::optional<int64_t> parse_i64(std::string_view text) { return parse<int64_t>(text); }
std::optional<uint64_t> parse_u64(std::string_view text) { return parse<uint64_t>(text); }

}  // namespace capra
