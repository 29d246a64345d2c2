// Shape rules and operand lists that several records share.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "capra/ir/op_def.h"

namespace capra {

inline constexpr Operand kUnaryOperands[] = {{"x", "any shape"}};
inline constexpr Operand kBinaryOperands[] = {{"a", "any shape"},
                                              {"b", "dtype of a; shapes broadcast"}};

/// The accuracy note of ops that add products or terms: their error is counted in units of the last
/// place of the sum of the terms' magnitudes, not of the result, which may cancel to nothing.
inline constexpr std::string_view kOfMagnitudes = "ulps of the sum of the terms' magnitudes";

/// Whether the operand's dtype is f64, f32, f16 or bf16; fails with `operand-dtype`.
Status require_float(const TensorType& x, std::string_view name = "x");
/// A float or an integer, not bool; fails with `operand-dtype`.
Status require_number(const TensorType& x, std::string_view name = "x");
/// An integer, not bool; fails with `operand-dtype`.
Status require_integer(const TensorType& x, std::string_view name);
/// Just this dtype; fails with `operand-dtype`.
Status require_dtype(const TensorType& x, DType dtype, std::string_view name);
/// Equal dtypes; fails with `operand-dtype`.
Status require_same_dtype(const TensorType& a, std::string_view a_name, const TensorType& b,
                          std::string_view b_name);
/// At least `rank` dims; fails with `operand-shape`.
Status require_rank(const TensorType& x, int64_t rank, std::string_view name);

/// The type, if its static extents are >= 0; `operand-shape` if not. (That its bytes can be counted
/// is checked for every op by infer_type.)
Result<TensorType> sized_type(DType dtype, Shape shape);

/// Equal dtypes and broadcast shapes: the result type of elementwise binary ops. Fails with
/// `operand-dtype` or `operand-shape`.
Result<TensorType> broadcast_type(const TensorType& a, const TensorType& b);

// Whole shape rules. They fail with `operand-dtype`, the binary ones with `operand-shape` as well.

/// The type of x, a float.
Result<TensorType> infer_float_unary(const TensorType& x, const NoAttrs&);
/// The type of x, a float or an integer.
Result<TensorType> infer_number_unary(const TensorType& x, const NoAttrs&);
/// The broadcast_type of floats or integers.
Result<TensorType> infer_number_binary(const TensorType& a, const TensorType& b, const NoAttrs&);
/// The broadcast_type of bools.
Result<TensorType> infer_logical_binary(const TensorType& a, const TensorType& b, const NoAttrs&);

/// `axes` as positions, in the order given; fails with `attribute-invalid` for an axis outside the
/// rank or given twice.
Result<std::vector<int64_t>> normalize_axes(std::span<const int64_t> axes, int64_t rank);

}  // namespace capra
