// div: a / b, element by element with broadcasting.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kDiv;
/// a and b have one dtype, float or integer; the result has it and the shape they broadcast to.
/// Integers truncate toward zero; by zero they give 0. Throws `operand-dtype`, `operand-shape`.
Tensor div(const Tensor& a, const Tensor& b);

}  // namespace capra
