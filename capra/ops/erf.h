// erf: The error function, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kErf;
/// x is of a float dtype, any shape; the result has its type. Throws `operand-dtype`.
Tensor erf(const Tensor& x);

}  // namespace capra
