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
/// table of rank 1 or more, any dtype; indices of an integer dtype, any shape. The result has the
/// axes of indices in place of the table's axis: [rows, width] and [tokens] give [tokens, width].
/// Throws `operand-shape`, `operand-dtype`, `attribute-invalid` for an axis the table does not
/// have, and where it computes `index-out-of-range` for an index outside [0, extent).
Tensor gather(const Tensor& table, const Tensor& indices, int64_t axis = 0);

}  // namespace capra
