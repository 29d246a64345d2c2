// sub: a - b, element by element with broadcasting.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kSub;
/// a and b have one dtype, float or integer; the result has it and the shape they broadcast to.
/// Integers wrap. Throws `operand-dtype`, `operand-shape`.
Tensor sub(const Tensor& a, const Tensor& b);

}  // namespace capra
