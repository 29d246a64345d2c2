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
/// Element [..., i, ...] is i, the index along the axis; a value the dtype cannot hold wraps
/// (integers) or rounds (floats). Has no operands, so the context says where the tensor lives.
/// Throws `attribute-invalid` for bool or an axis the shape does not have, `operand-shape` for a
/// negative extent.
Tensor iota(const Context& context, const IotaAttrs& attrs);

}  // namespace capra
