// Scalar operands, and the widening that decompositions share.
#include "capra/ops/arithmetic.h"

#include "capra/ops/constant.h"
#include "capra/ops/convert.h"

namespace capra {

Tensor scalar_like(const Tensor& x, double value) {
  return constant(x.context(), Array::scalar(x.dtype(), value));
}

Tensor widened(const Tensor& x) { return is_half(x.dtype()) ? convert(x, DType::F32) : x; }

Tensor narrowed(const Tensor& x, DType dtype) { return x.dtype() == dtype ? x : convert(x, dtype); }

}  // namespace capra
