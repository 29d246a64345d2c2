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
Tensor softmax(const Tensor& x, int64_t axis = -1);

}  // namespace capra
