// Checks of operand dtypes and shapes, worded once for all records.
#include "capra/ops/shape_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace capra {

Status require_float(const TensorType& x, std::string_view name) {
  if (is_float(x.dtype)) return {};
  return fail("operand-dtype",
              fmt::format("{} is {}, a float dtype is needed", name, dtype_name(x.dtype)), {},
              "convert it to a float dtype first");
}

Status require_number(const TensorType& x, std::string_view name) {
  if (is_float(x.dtype) || is_integer(x.dtype)) return {};
  return fail(
      "operand-dtype",
      fmt::format("{} is {}, a float or integer dtype is needed", name, dtype_name(x.dtype)), {},
      "convert it to a number dtype first");
}

Status require_integer(const TensorType& x, std::string_view name) {
  if (is_integer(x.dtype)) return {};
  return fail("operand-dtype",
              fmt::format("{} is {}, an integer dtype is needed", name, dtype_name(x.dtype)));
}

Status require_dtype(const TensorType& x, DType dtype, std::string_view name) {
  if (x.dtype == dtype) return {};
  return fail("operand-dtype",
              fmt::format("{} is {}, {} is needed", name, dtype_name(x.dtype), dtype_name(dtype)));
}

Status require_same_dtype(const TensorType& a, std::string_view a_name, const TensorType& b,
                          std::string_view b_name) {
  if (a.dtype == b.dtype) return {};
  return fail("operand-dtype",
              fmt::format("{} is {} and {} is {}, equal dtypes are needed", a_name,
                          dtype_name(a.dtype), b_name, dtype_name(b.dtype)),
              {}, "convert one of them; nothing is promoted by itself");
}

Status require_rank(const TensorType& x, int64_t rank, std::string_view name) {
  if (x.shape.rank() >= rank) return {};
  return fail("operand-shape",
              fmt::format("{} has rank {}, at least {} is needed", name, x.shape.rank(), rank));
}

Result<TensorType> sized_type(DType dtype, Shape shape) {
  for (const Dim& dim : shape.dims()) {
    if (dim.is_static() && dim.size() < 0) {
      return fail("operand-shape", fmt::format("shape {} has a negative extent", shape.text()));
    }
  }
  return TensorType{dtype, std::move(shape)};
}

Result<TensorType> broadcast_type(const TensorType& a, const TensorType& b) {
  CAPRA_TRY(require_same_dtype(a, "a", b, "b"));
  CAPRA_ASSIGN(Shape shape, broadcast_shapes(a.shape, b.shape));
  return sized_type(a.dtype, std::move(shape));
}

Result<TensorType> infer_float_unary(const TensorType& x, const NoAttrs&) {
  CAPRA_TRY(require_float(x));
  return x;
}

Result<TensorType> infer_number_unary(const TensorType& x, const NoAttrs&) {
  CAPRA_TRY(require_number(x));
  return x;
}

Result<TensorType> infer_number_binary(const TensorType& a, const TensorType& b, const NoAttrs&) {
  CAPRA_TRY(require_number(a, "a"));
  return broadcast_type(a, b);
}

Result<TensorType> infer_logical_binary(const TensorType& a, const TensorType& b, const NoAttrs&) {
  CAPRA_TRY(require_dtype(a, DType::Bool, "a"));
  CAPRA_TRY(require_dtype(b, DType::Bool, "b"));
  return broadcast_type(a, b);
}

Result<std::vector<int64_t>> normalize_axes(std::span<const int64_t> axes, int64_t rank) {
  std::vector<int64_t> positions;
  positions.reserve(axes.size());
  for (const int64_t axis : axes) {
    CAPRA_ASSIGN(const int64_t position, normalize_axis(axis, rank));
    if (std::ranges::find(positions, position) != positions.end()) {
      return fail("attribute-invalid", fmt::format("axis {} is given twice", position));
    }
    positions.push_back(position);
  }
  return positions;
}

}  // namespace capra
