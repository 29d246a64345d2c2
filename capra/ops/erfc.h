// erfc: 1 - erf(x) without the cancellation, element by element.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kErfc;
Tensor erfc(const Tensor& x);

}  // namespace capra
