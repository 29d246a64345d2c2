// mul: a b, element by element with broadcasting.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kMul;
Tensor mul(const Tensor& a, const Tensor& b);

}  // namespace capra
