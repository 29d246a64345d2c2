// max: the maximum over axes.
#pragma once

#include "capra/ops/reduction.h"

namespace capra {

extern const OpDef kMax;
/// x is of a float or integer dtype; the result has its dtype and the axes that are left. A NaN
/// gives NaN; the maximum of nothing is -infinity or the least integer. Throws `operand-dtype`,
/// `attribute-invalid` for an axis that x does not have or that is named twice.
Tensor max(const Tensor& x, const ReduceAttrs& attrs = {});

}  // namespace capra
