// The element types as the kernels see them, and what they need to know about a strided operand.
// The kernels stand below ir: the values follow the order of ir's DType (the target asserts it).
#pragma once

#include <cstddef>
#include <cstdint>

namespace capra::kernels {

enum class Element : uint8_t { F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, Bool };

constexpr size_t element_bytes(Element element) {
  constexpr uint8_t kBytes[] = {8, 4, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1, 1};
  return kBytes[static_cast<size_t>(element)];
}

/// Calls f with a value of the integer type that the elements are stored as (bool as uint8_t).
template <class F>
void for_integer(Element type, F f) {
  switch (type) {
    case Element::I64:
      return f(int64_t{});
    case Element::I32:
      return f(int32_t{});
    case Element::I16:
      return f(int16_t{});
    case Element::I8:
      return f(int8_t{});
    case Element::U64:
      return f(uint64_t{});
    case Element::U32:
      return f(uint32_t{});
    case Element::U16:
      return f(uint16_t{});
    default:
      return f(uint8_t{});
  }
}

/// The most dimensions a strided kernel takes; a target refuses more.
inline constexpr int kMaxRank = 16;

/// A read-only operand: element strides, one a dimension of the *output* (0 where it is broadcast).
struct Strided {
  const void* data;
  const int64_t* strides;
};

/// Half-open range of the output's elements in row-major order (of its rows where said so), so that
/// threads can share one call. How a range is cut never changes a result.
struct Range {
  int64_t begin;
  int64_t end;
};

}  // namespace capra::kernels
