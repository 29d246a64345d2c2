// neg: -x, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kNeg;
Tensor neg(const Tensor& x);

}  // namespace capra
