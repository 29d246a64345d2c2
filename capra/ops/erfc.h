// erfc: 1 - erf(x) without the cancellation, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kErfc;
/// x is of a float dtype, any shape; the result has its type. Throws `operand-dtype`.
Tensor erfc(const Tensor& x);

}  // namespace capra
