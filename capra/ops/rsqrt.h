// rsqrt: 1 / sqrt(x), element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kRsqrt;
Tensor rsqrt(const Tensor& x);

}  // namespace capra
