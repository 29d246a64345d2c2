// div: a / b, element by element with broadcasting.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kDiv;
Tensor div(const Tensor& a, const Tensor& b);

}  // namespace capra
