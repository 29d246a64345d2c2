// slice: a box with steps out of a tensor.
#pragma once

#include <tuple>
#include <vector>

#include "capra/ir/op_def.h"

namespace capra {

struct SliceAttrs {
  std::vector<int64_t> starts = {};
  Shape limits = {};
  std::vector<int64_t> strides = {};
  static constexpr auto fields() {
    return std::tuple{
        Field{"starts", &SliceAttrs::starts, "first index, one an axis"},
        Field{"limits", &SliceAttrs::limits,
              "one past the last index, one an axis; a symbol takes its value at run time"},
        Field{"strides", &SliceAttrs::strides, "step, one an axis; empty: all 1"}};
  }
};

extern const OpDef kSlice;
/// x of any dtype; starts, limits and strides (or no strides) have one entry an axis. Extent i of
/// the result is (limit - start) / stride, rounded up, or the limit where that is a symbol. Throws
/// `attribute-invalid` for other counts, a negative start, a stride below 1 or a box that x does
/// not hold, `symbolic-dim` for a symbolic limit with another start than 0 or another stride than
/// 1. Whether a box fits a symbolic extent shows when the graph runs (`slice-out-of-range`).
Tensor slice(const Tensor& x, const SliceAttrs& attrs);

}  // namespace capra
