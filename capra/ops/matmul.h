// matmul: the matrix product of the last two axes; leading axes broadcast.
#pragma once

#include <tuple>

#include "capra/ir/op_def.h"

namespace capra {

struct MatmulAttrs {
  bool transpose_a = false;
  bool transpose_b = false;
  double factor = 1.0;
  static constexpr auto fields() {
    return std::tuple{
        Field{"transpose_a", &MatmulAttrs::transpose_a, "a is [..., k, m]"},
        Field{"transpose_b", &MatmulAttrs::transpose_b, "b is [..., n, k]"},
        Field{"factor", &MatmulAttrs::factor, "multiplies the product, a rounded step of its own"}};
  }
};

extern const OpDef kMatmul;
/// a [..., m, k] and b [..., k, n] of one float or integer dtype (each read with its last two axes
/// swapped if the attributes say so); the result is [..., m, n], leading axes broadcast. Throws
/// `operand-dtype`, `operand-shape`, `attribute-invalid` for integers with a factor other than 1.
Tensor matmul(const Tensor& a, const Tensor& b, MatmulAttrs attrs = {});

}  // namespace capra
