// relu: max(x, 0), element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kRelu;
/// x is of a float or integer dtype, any shape; the result has its type. NaN stays NaN, -0 gives
/// +0. Throws `operand-dtype`.
Tensor relu(const Tensor& x);

}  // namespace capra
