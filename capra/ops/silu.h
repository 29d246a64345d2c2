// silu: x sigmoid(x), element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kSilu;
/// x is of a float dtype, any shape; the result has its type. Throws `operand-dtype`.
Tensor silu(const Tensor& x);

}  // namespace capra
