// exp: e to the power x, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kExp;
/// x is of a float dtype, any shape; the result has its type. Throws `operand-dtype`.
Tensor exp(const Tensor& x);

}  // namespace capra
