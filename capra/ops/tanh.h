// tanh: Hyperbolic tangent, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kTanh;
Tensor tanh(const Tensor& x);

}  // namespace capra
