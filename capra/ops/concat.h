// concat: tensors joined along an axis.
#pragma once

#include <span>
#include <tuple>

#include "capra/ir/op_def.h"

namespace capra {

struct ConcatAttrs {
  int64_t axis = 0;
  static constexpr auto fields() {
    return std::tuple{
        Field{"axis", &ConcatAttrs::axis, "the axis that grows, negative from the end"}};
  }
};

extern const OpDef kConcat;
Tensor concat(std::span<const Tensor> parts, int64_t axis = 0);

}  // namespace capra
