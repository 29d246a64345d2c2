// silu: x sigmoid(x), element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kSilu;
Tensor silu(const Tensor& x);

}  // namespace capra
