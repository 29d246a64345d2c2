// sigmoid: 1 / (1 + exp(-x)), element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kSigmoid;
Tensor sigmoid(const Tensor& x);

}  // namespace capra
