// sigmoid: 1 / (1 + exp(-x)), element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kSigmoid;
/// x is of a float dtype, any shape; the result has its type. Throws `operand-dtype`.
Tensor sigmoid(const Tensor& x);

}  // namespace capra
