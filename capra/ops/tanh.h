// tanh: Hyperbolic tangent, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kTanh;
/// x is of a float dtype, any shape; the result has its type. Throws `operand-dtype`.
Tensor tanh(const Tensor& x);

}  // namespace capra
