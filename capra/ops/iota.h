// iota: 0, 1, 2, ... along an axis.
#pragma once

#include <tuple>

#include "capra/ir/op_def.h"

namespace capra {

struct IotaAttrs {
  DType dtype = DType::I64;
  Shape shape = {};
  int64_t axis = 0;
  static constexpr auto fields() {
    return std::tuple{Field{"dtype", &IotaAttrs::dtype, "dtype of the result, not bool"},
                      Field{"shape", &IotaAttrs::shape, "shape of the result"},
                      Field{"axis", &IotaAttrs::axis,
                            "the axis along which values count, negative from the end"}};
  }
};

extern const OpDef kIota;
/// Has no operands, so the context says where the tensor lives.
Tensor iota(const Context& context, const IotaAttrs& attrs);

}  // namespace capra
