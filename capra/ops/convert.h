// convert: elements in another dtype.
#pragma once

#include <cstdint>
#include <tuple>

#include "capra/ir/op_def.h"

namespace capra {

struct ConvertAttrs {
  DType dtype = DType::F32;
  static constexpr auto fields() {
    return std::tuple{Field{"dtype", &ConvertAttrs::dtype, "dtype of the result"}};
  }
};

extern const OpDef kConvert;
/// x of any dtype and shape; the result has its shape. To a float: rounded once. Float to integer:
/// toward zero, saturating, 0 for NaN. Integer to integer: wraps. To bool: is not zero. No
/// conversion is refused.
Tensor convert(const Tensor& x, DType dtype);

/// `value` rounded once to the values of a float dtype.
double round_to(DType dtype, double value);

/// Stores element `index` of `x`, converted to `to`, as element `index` of `result`, whose dtype is
/// `to`, or f64 where `to` is a float: what the op means for one number, in double precision.
void convert_element(const Array& x, int64_t index, DType to, Array& result);

}  // namespace capra
