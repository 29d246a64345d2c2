// variance: the population variance over axes.
#pragma once

#include "capra/ops/reduction.h"

namespace capra {

extern const OpDef kVariance;
Tensor variance(const Tensor& x, const ReduceAttrs& attrs = {});

}  // namespace capra
