// log: Natural logarithm, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kLog;
/// x is of a float dtype, any shape; the result has its type. -infinity for 0, NaN for a negative
/// number. Throws `operand-dtype`.
Tensor log(const Tensor& x);

}  // namespace capra
