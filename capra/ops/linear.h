// linear: x weight^T + bias, the product of a layer whose weight is [out, in].
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

extern const OpDef kLinear;
/// x [..., rows, in], weight [out, in], bias [out] or an empty tensor, all of one float dtype; the
/// result is [..., rows, out]. Throws `operand-dtype`, `operand-shape`.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace capra
