// Elements as text: shortest numbers, bit patterns where no number says them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "capra/base/number_text.h"
#include "capra/targets/stablehlo/module.h"

namespace capra::stablehlo {
namespace {

// Lists longer than this are written as bytes.
constexpr int64_t kLongestList = 64;

std::string_view element_name(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return "i1";
    case DType::U64:
      return "ui64";
    case DType::U32:
      return "ui32";
    case DType::U16:
      return "ui16";
    case DType::U8:
      return "ui8";
    default:
      return dtype_name(dtype);
  }
}

// Two hexadecimal digits a byte, the first byte first.
void append_bytes(std::string& text, const std::byte* bytes, size_t size) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const size_t begin = text.size();
  text.resize(begin + 2 * size);
  for (size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned>(bytes[i]);
    text[begin + 2 * i] = kDigits[byte >> 4];
    text[begin + 2 * i + 1] = kDigits[byte & 15];
  }
}

// A float literal of the dialect has a point, also before an exponent.
std::string with_point(std::string text) {
  if (text.find('.') != std::string::npos) return text;
  const size_t exponent = text.find('e');
  return text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
}

std::string float_text(const Array& array, int64_t index) {
  const double value = array.f64_at(index);
  if (!std::isfinite(value)) {
    // The bits as one number: the last byte in memory is the highest.
    const size_t size = dtype_bytes(array.dtype());
    std::vector<std::byte> bytes(size);
    std::memcpy(bytes.data(), array.data() + static_cast<size_t>(index) * size, size);
    std::ranges::reverse(bytes);
    std::string text = "0x";
    append_bytes(text, bytes.data(), size);
    return text;
  }
  if (array.dtype() == DType::F64) return with_point(number_text(value));
  // The reader rounds to f64 first, and then to the dtype: the shortest text of the float, unless
  // that gives another float.
  const auto narrow = static_cast<float>(value);
  const std::string shortest = number_text(narrow);
  const bool same = static_cast<float>(*parse_f64(shortest)) == narrow;
  return with_point(same ? shortest : number_text(value));
}

std::string element_text(const Array& array, int64_t index) {
  if (is_float(array.dtype())) return float_text(array, index);
  if (array.dtype() == DType::Bool) return array.i64_at(index) != 0 ? "true" : "false";
  if (array.dtype() == DType::U64) return number_text(static_cast<uint64_t>(array.i64_at(index)));
  return number_text(array.i64_at(index));
}

bool all_equal(const Array& array) {
  const size_t size = dtype_bytes(array.dtype());
  const size_t bytes = array.byte_size();
  // Each element equals the one before it.
  return bytes <= size || std::memcmp(array.data(), array.data() + size, bytes - size) == 0;
}

void append_list(std::string& text, const Array& array, size_t axis, int64_t& next) {
  if (axis == array.sizes().size()) {
    text += element_text(array, next++);
    return;
  }
  text += "[";
  for (int64_t i = 0; i < array.sizes()[axis]; ++i) {
    if (i > 0) text += ", ";
    append_list(text, array, axis + 1, next);
  }
  text += "]";
}

}  // namespace

std::string extents_text(const TensorType& type, std::string_view dynamic) {
  std::string text;
  for (const Dim& dim : type.shape.dims()) {
    text += (dim.is_static() ? number_text(dim.size()) : std::string(dynamic)) + "x";
  }
  text += element_name(type.dtype);
  return text;
}

std::string type_text(const TensorType& type) { return "tensor<" + extents_text(type, "?") + ">"; }

std::string dense_text(const Array& array) {
  if (array.elements() == 0) return "";
  if (all_equal(array)) return element_text(array, 0);
  std::string text;
  // Bytes of bools would be packed bits.
  if (array.elements() <= kLongestList || array.dtype() == DType::Bool) {
    int64_t next = 0;
    append_list(text, array, 0, next);
    return text;
  }
  text = "\"0x";
  text.reserve(2 * array.byte_size() + 4);
  append_bytes(text, array.data(), array.byte_size());
  return text + "\"";
}

}  // namespace capra::stablehlo
