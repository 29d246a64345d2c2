// What the reductions over several axes share: attributes and the shape rule.
#pragma once

#include <span>
#include <tuple>
#include <vector>

#include "capra/ir/op_def.h"

namespace capra {

struct ReduceAttrs {
  std::vector<int64_t> axes = {};  ///< negative ones count from the end; empty: all
  bool keep_dims = false;
  static constexpr auto fields() {
    return std::tuple{
        Field{"axes", &ReduceAttrs::axes, "axes to reduce, negative from the end; empty: all"},
        Field{"keep_dims", &ReduceAttrs::keep_dims, "keep reduced axes with extent 1"}};
  }
};

inline constexpr Operand kReduceOperands[] = {{"x", "any shape"}};

/// The reduced axes as ascending positions; all of them when `axes` is empty. Fails with
/// `attribute-invalid` for an axis outside the rank or given twice.
Result<std::vector<int64_t>> reduced_axes(std::span<const int64_t> axes, int64_t rank);

/// `shape` without the positions `axes` (ascending), or with extent 1 there.
Shape reduced_shape(const Shape& shape, std::span<const int64_t> axes, bool keep_dims);

/// The shape rule of sum and max: floats and integers, dtype kept. Fails with `operand-dtype` or
/// `attribute-invalid`.
Result<TensorType> infer_number_reduction(const TensorType& x, const ReduceAttrs& attrs);
/// The shape rule of mean and variance: floats only. Fails with `operand-dtype` or
/// `attribute-invalid`.
Result<TensorType> infer_float_reduction(const TensorType& x, const ReduceAttrs& attrs);

}  // namespace capra
