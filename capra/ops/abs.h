// abs: |x|, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kAbs;
/// x is of a float or integer dtype, any shape; the result has its type. The least integer wraps to
/// itself. Throws `operand-dtype`.
Tensor abs(const Tensor& x);

}  // namespace capra
