// permute: axes in another order.
#pragma once

#include <tuple>
#include <vector>

#include "capra/ir/op_def.h"

namespace capra {

struct PermuteAttrs {
  std::vector<int64_t> axes = {};
  static constexpr auto fields() {
    return std::tuple{
        Field{"axes", &PermuteAttrs::axes, "axis i of the result is axis axes[i] of x"}};
  }
};

extern const OpDef kPermute;
/// `axes` names each axis of x once, negative ones from the end; axis i of the result is axis
/// axes[i] of x. Any dtype. Throws `attribute-invalid`.
Tensor permute(const Tensor& x, std::vector<int64_t> axes);

}  // namespace capra
