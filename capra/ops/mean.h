// mean: the arithmetic mean over axes.
#pragma once

#include "capra/ops/reduction.h"

namespace capra {

extern const OpDef kMean;
/// x is of a float dtype; the result has its dtype and the axes that are left. The mean of nothing
/// is NaN. Throws `operand-dtype`, `attribute-invalid` for an axis that x does not have or that is
/// named twice.
Tensor mean(const Tensor& x, const ReduceAttrs& attrs = {});

}  // namespace capra
