// maximum: the larger of a and b, element by element with broadcasting.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kMaximum;
Tensor maximum(const Tensor& a, const Tensor& b);

}  // namespace capra
