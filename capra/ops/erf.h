// erf: The error function, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kErf;
Tensor erf(const Tensor& x);

}  // namespace capra
