// logical_and: a and b, element by element with broadcasting.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kLogicalAnd;
Tensor logical_and(const Tensor& a, const Tensor& b);

}  // namespace capra
