// sqrt: Square root, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kSqrt;
Tensor sqrt(const Tensor& x);

}  // namespace capra
