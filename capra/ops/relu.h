// relu: max(x, 0), element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kRelu;
Tensor relu(const Tensor& x);

}  // namespace capra
