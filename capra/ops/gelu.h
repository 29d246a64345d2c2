// gelu: Gaussian error linear unit, element by element.
#pragma once

#include <tuple>

#include "capra/ir/op_def.h"

namespace capra {

struct GeluAttrs {
  bool approximate = true;
  static constexpr auto fields() {
    return std::tuple{Field{"approximate", &GeluAttrs::approximate, "use the tanh form"}};
  }
};

extern const OpDef kGelu;
/// x is of a float dtype, any shape; the result has its type. Without attributes it is the tanh
/// form, not the exact one. Throws `operand-dtype`.
Tensor gelu(const Tensor& x, GeluAttrs attrs = {});

}  // namespace capra
