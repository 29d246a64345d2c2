// Typed attributes. An op's attribute struct lists its fields once; printing, parsing, comparing,
// hashing and the docs read that list through the erased forms here.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "capra/ir/array.h"
#include "capra/ir/shape.h"

namespace capra {

/// A field of an attribute struct: `Field{"approximate", &GeluAttrs::approximate, "use the tanh
/// form"}`.
template <class Owner, class T>
struct Field {
  std::string_view name;
  T Owner::* member;
  std::string_view doc;
};
template <class Owner, class T>
Field(const char*, T Owner::*, const char*) -> Field<Owner, T>;

/// What an attribute can be. TensorType is the result type of the node itself (input, parameter):
/// text shows it after the colon, not between the braces.
using AttrValue = std::variant<bool, int64_t, double, std::string, DType, std::vector<int64_t>,
                               Shape, Array, TensorType>;
enum class AttrKind : uint8_t { Bool, Int, Float, String, DType, Ints, Shape, Array, ResultType };

/// `bool`, `int`, `float`, `string`, `dtype`, `ints`, `shape`, `array`, `type`.
std::string_view attr_kind_name(AttrKind kind);

/// Attribute values of one node, in the order of the op's schema.
using Attrs = std::vector<AttrValue>;

struct AttrField {
  std::string_view name;
  AttrKind kind;
  std::string_view doc;
};

/// The erased form of an attribute struct.
struct AttrSchema {
  std::span<const AttrField> fields;
  Attrs (*defaults)() = nullptr;
};

/// Position of `name` in the schema, or -1.
int attr_index(const AttrSchema& schema, std::string_view name);

/// Equal kinds and equal values; NaN equals NaN and signed zeros differ, arrays compare by bytes.
bool attrs_equal(const Attrs& a, const Attrs& b);
uint64_t attrs_hash(const Attrs& attrs);

/// For ops without attributes.
struct NoAttrs {
  static constexpr auto fields() { return std::tuple{}; }
};

namespace detail {

template <class T>
constexpr AttrKind attr_kind() {
  if constexpr (std::is_same_v<T, bool>)
    return AttrKind::Bool;
  else if constexpr (std::is_same_v<T, int64_t>)
    return AttrKind::Int;
  else if constexpr (std::is_same_v<T, double>)
    return AttrKind::Float;
  else if constexpr (std::is_same_v<T, std::string>)
    return AttrKind::String;
  else if constexpr (std::is_same_v<T, DType>)
    return AttrKind::DType;
  else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
    return AttrKind::Ints;
  else if constexpr (std::is_same_v<T, Shape>)
    return AttrKind::Shape;
  else if constexpr (std::is_same_v<T, Array>)
    return AttrKind::Array;
  else {
    static_assert(std::is_same_v<T, TensorType>, "not an attribute type");
    return AttrKind::ResultType;
  }
}

template <class A>
inline constexpr auto kAttrFields = std::apply(
    [](const auto&... field) {
      return std::array<AttrField, sizeof...(field)>{
          AttrField{field.name,
                    attr_kind<std::remove_cvref_t<decltype(std::declval<A&>().*(field.member))>>(),
                    field.doc}...};
    },
    A::fields());

}  // namespace detail

/// The typed struct as values in schema order.
template <class A>
Attrs pack(const A& attrs) {
  return std::apply(
      [&](const auto&... field) { return Attrs{AttrValue(attrs.*(field.member))...}; },
      A::fields());
}

/// The typed struct from values in schema order.
template <class A>
A unpack(const Attrs& values) {
  A attrs{};
  size_t index = 0;
  std::apply(
      [&](const auto&... field) {
        ((attrs.*(field.member) =
              std::get<std::remove_cvref_t<decltype(attrs.*(field.member))>>(values[index++])),
         ...);
      },
      A::fields());
  return attrs;
}

/// The schema of an attribute struct, for an op record.
template <class A>
constexpr AttrSchema attrs_of() {
  return {detail::kAttrFields<A>, [] { return pack(A{}); }};
}

}  // namespace capra
