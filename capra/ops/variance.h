// variance: the population variance over axes.
#pragma once

#include "capra/ops/reduction.h"

namespace capra {

extern const OpDef kVariance;
/// x is of a float dtype; the result has its dtype and the axes that are left. Divides by the
/// number of elements; the variance of nothing is NaN. Throws `operand-dtype`, `attribute-invalid`
/// for an axis that x does not have or that is named twice.
Tensor variance(const Tensor& x, const ReduceAttrs& attrs = {});

}  // namespace capra
