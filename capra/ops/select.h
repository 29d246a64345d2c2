// select: a where the condition holds, else b; all three broadcast.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kSelect;
/// condition is bool, a and b have one dtype, which is the result's; the result has the shape all
/// three broadcast to. Bits are copied, so what is not chosen has no effect. Throws
/// `operand-dtype`, `operand-shape`.
Tensor select(const Tensor& condition, const Tensor& a, const Tensor& b);

}  // namespace capra
