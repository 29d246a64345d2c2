// argmax: the index of the greatest element along an axis.
#pragma once

#include <tuple>

#include "capra/ir/op_def.h"

namespace capra {

struct ArgmaxAttrs {
  int64_t axis = -1;
  bool keep_dims = false;
  static constexpr auto fields() {
    return std::tuple{Field{"axis", &ArgmaxAttrs::axis, "the axis searched, negative from the end"},
                      Field{"keep_dims", &ArgmaxAttrs::keep_dims, "keep the axis with extent 1"}};
  }
};

extern const OpDef kArgmax;
/// x of rank 1 or more, float or integer; the result is i64 without the axis, or with extent 1
/// there. The lowest index of equal elements; NaN counts as the greatest. Throws `operand-dtype`,
/// `attribute-invalid` for an axis x does not have, `operand-shape` for a scalar or an axis of
/// extent 0.
Tensor argmax(const Tensor& x, ArgmaxAttrs attrs = {});

}  // namespace capra
