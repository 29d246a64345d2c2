// log: Natural logarithm, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kLog;
Tensor log(const Tensor& x);

}  // namespace capra
