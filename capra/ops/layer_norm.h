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
/// gamma and beta have the extent of the last axis; an empty tensor leaves that step out.
Tensor layer_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {},
                  LayerNormAttrs attrs = {});

}  // namespace capra
