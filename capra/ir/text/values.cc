// Numbers, strings, arrays and attributes as text.
#include "capra/ir/text/values.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "capra/base/half.h"
#include "capra/base/number_text.h"
#include "capra/base/text/text_cursor.h"
#include "capra/ir/text.h"

namespace capra {
namespace {

uint64_t bits_at(const Array& array, int64_t index) {
  const size_t size = dtype_bytes(array.dtype());
  uint64_t bits = 0;  // little-endian, as every target here
  std::memcpy(&bits, array.data() + static_cast<size_t>(index) * size, size);
  return bits;
}

void set_bits(Array& array, int64_t index, uint64_t bits) {
  const size_t size = dtype_bytes(array.dtype());
  std::memcpy(array.mutable_data() + static_cast<size_t>(index) * size, &bits, size);
}

uint64_t canonical_nan(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return 0x7ff8000000000000u;
    case DType::F32:
      return 0x7fc00000u;
    case DType::F16:
      return 0x7e00u;
    default:
      return 0x7fc0u;
  }
}

std::string hex_text(uint64_t bits, size_t bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x";
  for (size_t nibble = bytes * 2; nibble-- > 0;) text += kDigits[(bits >> (4 * nibble)) & 15u];
  return text;
}

// The fewest digits that round back to the same 16 bits.
std::string half_text(uint16_t bits, float value, uint16_t (*round)(double)) {
  for (int digits = 1; digits < 9; ++digits) {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<double>(value),
                                   std::chars_format::general, digits);
    const std::optional<double> back = parse_f64({buffer, static_cast<size_t>(end.ptr - buffer)});
    if (back.has_value() && round(*back) == bits) return number_text(*back);
  }
  return number_text(value);
}

bool all_equal(const Array& array) {
  const uint64_t first = bits_at(array, 0);
  for (int64_t i = 1; i < array.elements(); ++i) {
    if (bits_at(array, i) != first) return false;
  }
  return true;
}

void append_elements(std::string& text, const Array& array, size_t axis, int64_t& index) {
  if (axis == array.sizes().size()) {
    text += element_text(array, index++);
    return;
  }
  text += '[';
  for (int64_t i = 0; i < array.sizes()[axis]; ++i) {
    if (i > 0) text += ", ";
    append_elements(text, array, axis + 1, index);
  }
  text += ']';
}

template <class T>
bool store_in_range(std::string_view text, Array& array, int64_t index) {
  if constexpr (std::is_signed_v<T>) {
    const std::optional<int64_t> value = parse_i64(text);
    if (!value.has_value() || *value != static_cast<T>(*value)) return false;
    set_bits(array, index, static_cast<uint64_t>(*value));
  } else {
    const std::optional<uint64_t> value = parse_u64(text);
    if (!value.has_value() || *value != static_cast<T>(*value)) return false;
    set_bits(array, index, *value);
  }
  return true;
}

bool parse_bits(std::string_view text, Array& array, int64_t index) {
  const std::string_view digits = text.substr(2);
  if (digits.size() != 2 * dtype_bytes(array.dtype())) return false;
  uint64_t bits = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  if (end.ec != std::errc() || end.ptr != digits.data() + digits.size()) return false;
  set_bits(array, index, bits);
  return true;
}

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(int64_t value) { return number_text(value); }
std::string text_of(double value) { return f64_text(value); }
std::string text_of(const std::string& value) { return quoted(value); }
std::string text_of(DType value) { return std::string(dtype_name(value)); }
std::string text_of(const Shape& value) { return value.text(); }
std::string text_of(const Array& value) { return print_array(value); }
std::string text_of(const TensorType& value) { return value.text(); }
std::string text_of(const std::vector<int64_t>& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ", ";
    text += number_text(values[i]);
  }
  return text + "]";
}

}  // namespace

bool is_identifier(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return false;
  return std::ranges::all_of(text, [](char c) { return is_word_byte(c); });
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x" + hex_text(byte, 1).substr(2);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string identifier_or_quoted(std::string_view text) {
  return is_identifier(text) ? std::string(text) : quoted(text);
}

std::string element_text(const Array& array, int64_t index) {
  const DType dtype = array.dtype();
  if (dtype == DType::Bool) return array.i64_at(index) != 0 ? "true" : "false";
  if (dtype == DType::U64) return number_text(bits_at(array, index));
  if (is_integer(dtype)) return number_text(array.i64_at(index));
  const double value = array.f64_at(index);
  const uint64_t bits = bits_at(array, index);
  if (value != value) {
    return bits == canonical_nan(dtype) ? "nan" : hex_text(bits, dtype_bytes(dtype));
  }
  if (dtype == DType::F64) return number_text(value);
  if (dtype == DType::F32) return number_text(static_cast<float>(value));
  return half_text(static_cast<uint16_t>(bits), static_cast<float>(value),
                   dtype == DType::F16 ? f64_to_f16 : f64_to_bf16);
}

std::string f64_text(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  if (value != value && bits != canonical_nan(DType::F64)) return hex_text(bits, 8);
  return number_text(value);
}

bool parse_element(std::string_view text, Array& array, int64_t index) {
  switch (array.dtype()) {
    case DType::Bool:
      if (text != "true" && text != "false") return false;
      array.set_i64(index, text == "true" ? 1 : 0);
      return true;
    case DType::I64:
      return store_in_range<int64_t>(text, array, index);
    case DType::I32:
      return store_in_range<int32_t>(text, array, index);
    case DType::I16:
      return store_in_range<int16_t>(text, array, index);
    case DType::I8:
      return store_in_range<int8_t>(text, array, index);
    case DType::U64:
      return store_in_range<uint64_t>(text, array, index);
    case DType::U32:
      return store_in_range<uint32_t>(text, array, index);
    case DType::U16:
      return store_in_range<uint16_t>(text, array, index);
    case DType::U8:
      return store_in_range<uint8_t>(text, array, index);
    case DType::F64:
    case DType::F32:
    case DType::F16:
    case DType::BF16:
      break;
  }
  if (text.starts_with("0x")) return parse_bits(text, array, index);
  if (text == "nan") {
    set_bits(array, index, canonical_nan(array.dtype()));
    return true;
  }
  if (array.dtype() == DType::F32) {  // straight from the digits: one rounding
    const std::optional<float> value = parse_f32(text);
    if (value.has_value()) set_bits(array, index, std::bit_cast<uint32_t>(*value));
    return value.has_value();
  }
  const std::optional<double> value = parse_f64(text);
  if (value.has_value()) array.set(index, *value);
  return value.has_value();
}

std::string note_text(const Note& note) {
  std::string text = identifier_or_quoted(note.name) + " = ";
  if (const auto* words = std::get_if<std::string>(&note.value)) return text + quoted(*words);
  if (const auto* whole = std::get_if<int64_t>(&note.value)) return text + number_text(*whole);
  std::string number = f64_text(std::get<double>(note.value));
  // A fraction keeps the kind: 3.0 is a number, 3 a count.
  if (number.find_first_not_of("-0123456789") == std::string::npos) number += ".0";
  return text + number;
}

std::string print_array(const Array& array) {
  if (!array) return "none";
  const std::string type = array.type().text();
  if (array.sizes().empty()) {
    return std::string(dtype_name(array.dtype())) + " " + element_text(array, 0);
  }
  if (array.elements() == 0) return type + " []";
  if (array.elements() > kMaxListedEqual && all_equal(array)) {
    return type + " splat " + element_text(array, 0);
  }
  std::string text = type + " ";
  int64_t index = 0;
  append_elements(text, array, 0, index);
  return text;
}

std::string print_attr(const AttrValue& value) {
  return std::visit([](const auto& held) { return text_of(held); }, value);
}

}  // namespace capra
