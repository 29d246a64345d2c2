// reshape: the same elements in row-major order under another shape.
#pragma once

#include <tuple>

#include "capra/ir/op_def.h"

namespace capra {

struct ReshapeAttrs {
  Shape shape = {};
  static constexpr auto fields() {
    return std::tuple{
        Field{"shape", &ReshapeAttrs::shape, "shape of the result; its symbols are those of x"}};
  }
};

extern const OpDef kReshape;
/// `shape` has the symbols of x, each as often, and static extents of the same product; any dtype.
/// Throws `symbolic-dim` for other symbols, `operand-shape` for another number of elements or a
/// negative extent.
Tensor reshape(const Tensor& x, Shape shape);

}  // namespace capra
