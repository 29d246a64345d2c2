// logical_or: a or b, element by element with broadcasting.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kLogicalOr;
/// a and b are bool; the result is bool of the shape they broadcast to. Throws `operand-dtype`,
/// `operand-shape`.
Tensor logical_or(const Tensor& a, const Tensor& b);

}  // namespace capra
