// abs: |x|, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kAbs;
Tensor abs(const Tensor& x);

}  // namespace capra
