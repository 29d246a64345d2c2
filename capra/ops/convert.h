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
Tensor convert(const Tensor& x, DType dtype);

}  // namespace capra
