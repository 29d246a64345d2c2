// maximum: the larger of a and b, element by element with broadcasting.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kMaximum;
/// a and b have one dtype, float or integer; the result has it and the shape they broadcast to. A
/// NaN gives NaN; +0 is above -0. Throws `operand-dtype`, `operand-shape`.
Tensor maximum(const Tensor& a, const Tensor& b);

}  // namespace capra
