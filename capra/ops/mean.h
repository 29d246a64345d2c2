// mean: the arithmetic mean over axes.
#pragma once

#include "capra/ops/reduction.h"

namespace capra {

extern const OpDef kMean;
Tensor mean(const Tensor& x, const ReduceAttrs& attrs = {});

}  // namespace capra
