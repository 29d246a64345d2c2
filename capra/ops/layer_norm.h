// layer_norm: the last axis brought to mean 0 and variance 1, then scaled and shifted.
#pragma once

#include <tuple>

#include "capra/ir/op_def.h"

namespace capra {

struct LayerNormAttrs {
  double eps = 1e-5;
  static constexpr auto fields() {
    return std::tuple{Field{"eps", &LayerNormAttrs::eps, "added to the variance, >= 0"}};
  }
};

extern const OpDef kLayerNorm;
/// x [..., n] of a float dtype, gamma and beta [n] of the same; the result has x's type. An empty
/// tensor leaves that step out. Throws `operand-dtype`, `operand-shape`, `attribute-invalid` for an
/// eps that is negative or not finite.
Tensor layer_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {},
                  LayerNormAttrs attrs = {});

}  // namespace capra
