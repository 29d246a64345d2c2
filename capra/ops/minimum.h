// minimum: the smaller of a and b, element by element with broadcasting.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kMinimum;
Tensor minimum(const Tensor& a, const Tensor& b);

}  // namespace capra
