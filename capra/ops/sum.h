// sum: the sum over axes.
#pragma once

#include "capra/ops/reduction.h"

namespace capra {

extern const OpDef kSum;
/// x is of a float or integer dtype; the result has its dtype and the axes that are left. Integers
/// wrap; the sum of nothing is 0. Throws `operand-dtype`, `attribute-invalid` for an axis that x
/// does not have or that is named twice.
Tensor sum(const Tensor& x, const ReduceAttrs& attrs = {});

}  // namespace capra
