// Operators on tensors. A scalar operand takes the tensor's dtype, rounded once, and is recorded as
// a constant before the op that uses it.
#pragma once

#include "capra/ops/add.h"
#include "capra/ops/div.h"
#include "capra/ops/mul.h"
#include "capra/ops/neg.h"
#include "capra/ops/sub.h"

namespace capra {

/// A scalar of x's dtype in x's context: `value` rounded once; to an integer toward zero,
/// saturating, 0 for NaN.
Tensor scalar_like(const Tensor& x, double value);

// As the functions they are named after, in shapes and failures.
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& x) { return neg(x); }

inline Tensor operator+(const Tensor& a, double b) { return add(a, scalar_like(a, b)); }
inline Tensor operator-(const Tensor& a, double b) { return sub(a, scalar_like(a, b)); }
inline Tensor operator*(const Tensor& a, double b) { return mul(a, scalar_like(a, b)); }
inline Tensor operator/(const Tensor& a, double b) { return div(a, scalar_like(a, b)); }
inline Tensor operator+(double a, const Tensor& b) { return add(scalar_like(b, a), b); }
inline Tensor operator-(double a, const Tensor& b) { return sub(scalar_like(b, a), b); }
inline Tensor operator*(double a, const Tensor& b) { return mul(scalar_like(b, a), b); }
inline Tensor operator/(double a, const Tensor& b) { return div(scalar_like(b, a), b); }

/// A narrow float (f16, bf16) as f32, so that a decomposition of several steps rounds once, where
/// it leaves; other dtypes as they are.
Tensor widened(const Tensor& x);
/// The way back: x converted to `dtype`, or x itself where it has that dtype.
Tensor narrowed(const Tensor& x, DType dtype);

}  // namespace capra
