// neg: -x, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kNeg;
/// x is of a float or signed integer dtype, any shape; the result has its type. The least integer
/// wraps to itself. Throws `operand-dtype`.
Tensor neg(const Tensor& x);

}  // namespace capra
