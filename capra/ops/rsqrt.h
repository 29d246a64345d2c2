// rsqrt: 1 / sqrt(x), element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kRsqrt;
/// x is of a float dtype, any shape; the result has its type. An infinity of its sign for a zero,
/// NaN for a negative number. Throws `operand-dtype`.
Tensor rsqrt(const Tensor& x);

}  // namespace capra
