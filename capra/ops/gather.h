// gather: slices of a table picked by indices along an axis.
#pragma once

#include <tuple>

#include "capra/ir/op_def.h"

namespace capra {

struct GatherAttrs {
  int64_t axis = 0;
  static constexpr auto fields() {
    return std::tuple{Field{"axis", &GatherAttrs::axis,
                            "the axis of the table that indices number, negative from the end"}};
  }
};

extern const OpDef kGather;
Tensor gather(const Tensor& table, const Tensor& indices, int64_t axis = 0);

}  // namespace capra
