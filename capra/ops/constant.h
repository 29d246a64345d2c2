// constant: numbers known when the graph is made.
#pragma once

#include <tuple>

#include "capra/ir/op_def.h"

namespace capra {

struct ConstantAttrs {
  Array value = {};
  static constexpr auto fields() {
    return std::tuple{Field{"value", &ConstantAttrs::value, "type and elements"}};
  }
};

extern const OpDef kConstant;
/// The tensor of `value`, of its type. Has no operands, so the context says where the tensor lives.
/// Throws `attribute-invalid` for an empty array.
Tensor constant(const Context& context, Array value);

}  // namespace capra
