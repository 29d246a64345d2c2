// exp: e to the power x, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kExp;
Tensor exp(const Tensor& x);

}  // namespace capra
