// sum: the sum over axes.
#pragma once

#include "capra/ops/reduction.h"

namespace capra {

extern const OpDef kSum;
Tensor sum(const Tensor& x, const ReduceAttrs& attrs = {});

}  // namespace capra
