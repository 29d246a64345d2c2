// max: the maximum over axes.
#pragma once

#include "capra/ops/reduction.h"

namespace capra {

extern const OpDef kMax;
Tensor max(const Tensor& x, const ReduceAttrs& attrs = {});

}  // namespace capra
