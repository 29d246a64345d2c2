// logical_not: not x, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kLogicalNot;
/// x is bool, any shape; the result has its type. Throws `operand-dtype`.
Tensor logical_not(const Tensor& x);

}  // namespace capra
