// Walks over the records of the instructions and over their fields.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

#include "capra/targets/ga2/isa/instruction.h"

namespace capra::ga2 {

/// The largest value that a field holds.
template <class T>
constexpr uint64_t largest(const Field<T>& field) {
  return (uint64_t{1} << field.bits) - 1;
}

/// Calls `visit` with each field of T, in printed order.
template <class T, class Visit>
constexpr void for_each_field(Visit&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, T::fields());
}

/// Calls `visit` with the type of each record, as `std::type_identity`, in the order of opcodes.
template <class Visit>
constexpr void for_each_record(Visit&& visit) {
  [&]<size_t... index>(std::index_sequence<index...>) {
    (visit(std::type_identity<std::variant_alternative_t<index, Instruction>>()), ...);
  }(std::make_index_sequence<std::variant_size_v<Instruction>>());
}

}  // namespace capra::ga2
