// convert: elements in another dtype.
#pragma once

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

}  // namespace capra
