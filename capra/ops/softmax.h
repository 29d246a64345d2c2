// softmax: exp(x) / sum(exp(x)) along an axis.
#pragma once

#include <tuple>

#include "capra/ir/op_def.h"

namespace capra {

struct SoftmaxAttrs {
  int64_t axis = -1;
  static constexpr auto fields() {
    return std::tuple{
        Field{"axis", &SoftmaxAttrs::axis, "the axis that sums to 1, negative from the end"}};
  }
};

extern const OpDef kSoftmax;
/// x of rank 1 or more and a float dtype; the result has its type. A row of nothing but -infinity
/// gives zeros. Throws `operand-dtype`, `operand-shape` for a scalar, `attribute-invalid` for an
/// axis x does not have.
Tensor softmax(const Tensor& x, int64_t axis = -1);

}  // namespace capra
