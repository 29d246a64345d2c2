// sqrt: Square root, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kSqrt;
/// x is of a float dtype, any shape; the result has its type. -0 for -0, NaN for another negative
/// number. Throws `operand-dtype`.
Tensor sqrt(const Tensor& x);

}  // namespace capra
