// mul: a b, element by element with broadcasting.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kMul;
/// a and b have one dtype, float or integer; the result has it and the shape they broadcast to.
/// Integers wrap. Throws `operand-dtype`, `operand-shape`.
Tensor mul(const Tensor& a, const Tensor& b);

}  // namespace capra
