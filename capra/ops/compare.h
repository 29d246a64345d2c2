// compare: an order relation of a and b as bool, element by element with broadcasting.
#pragma once

#include <string>
#include <tuple>

#include "capra/ir/op_def.h"

namespace capra {

struct CompareAttrs {
  std::string direction = "eq";
  static constexpr auto fields() {
    return std::tuple{Field{"direction", &CompareAttrs::direction, "lt, le, gt, ge, eq or ne"}};
  }
};

extern const OpDef kCompare;
/// a and b have one dtype; the result is bool of the shape they broadcast to. A NaN is only `ne`.
/// Throws `attribute-invalid` for another direction, `operand-dtype` also for bool with an order,
/// `operand-shape`.
Tensor compare(const Tensor& a, const Tensor& b, const CompareAttrs& attrs);

}  // namespace capra
