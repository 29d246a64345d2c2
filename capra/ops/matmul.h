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
Tensor matmul(const Tensor& a, const Tensor& b, MatmulAttrs attrs = {});

}  // namespace capra
