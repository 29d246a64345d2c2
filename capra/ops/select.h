// select: a where the condition holds, else b; all three broadcast.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kSelect;
Tensor select(const Tensor& condition, const Tensor& a, const Tensor& b);

}  // namespace capra
