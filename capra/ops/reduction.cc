// The shape rule of the reductions over several axes.
#include "capra/ops/reduction.h"

#include <algorithm>
#include <numeric>

#include "capra/ops/shape_rules.h"

namespace capra {

Result<std::vector<int64_t>> reduced_axes(std::span<const int64_t> axes, int64_t rank) {
  if (axes.empty()) {
    std::vector<int64_t> all(static_cast<size_t>(rank));
    std::iota(all.begin(), all.end(), int64_t{0});
    return all;
  }
  CAPRA_ASSIGN(std::vector<int64_t> positions, normalize_axes(axes, rank));
  std::ranges::sort(positions);
  return positions;
}

Shape reduced_shape(const Shape& shape, std::span<const int64_t> axes, bool keep_dims) {
  std::vector<Dim> dims;
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (std::ranges::find(axes, axis) == axes.end()) {
      dims.push_back(shape[axis]);
    } else if (keep_dims) {
      dims.emplace_back(1);
    }
  }
  return Shape(std::move(dims));
}

namespace {

Result<TensorType> reduced_type(const TensorType& x, const ReduceAttrs& attrs) {
  CAPRA_ASSIGN(const std::vector<int64_t> axes, reduced_axes(attrs.axes, x.shape.rank()));
  return TensorType{x.dtype, reduced_shape(x.shape, axes, attrs.keep_dims)};
}

}  // namespace

Result<TensorType> infer_number_reduction(const TensorType& x, const ReduceAttrs& attrs) {
  CAPRA_TRY(require_number(x));
  return reduced_type(x, attrs);
}

Result<TensorType> infer_float_reduction(const TensorType& x, const ReduceAttrs& attrs) {
  CAPRA_TRY(require_float(x));
  return reduced_type(x, attrs);
}

}  // namespace capra
