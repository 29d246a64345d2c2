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
Tensor slice(const Tensor& x, const SliceAttrs& attrs);

}  // namespace capra
