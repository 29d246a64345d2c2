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
/// At least one part of rank 1 or more, all of one dtype and of equal extents but along the axis;
/// there the result has their sum. Throws `operand-count` for no part, `operand-dtype`,
/// `operand-shape`, `attribute-invalid` for an axis the parts do not have, `symbolic-dim` where
/// several parts meet a symbol along the axis.
Tensor concat(std::span<const Tensor> parts, int64_t axis = 0);

}  // namespace capra
