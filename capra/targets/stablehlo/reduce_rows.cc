// Rows of the ops that add or compare along axes: the product of matrices, sums, maxima.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "capra/ops/argmax.h"
#include "capra/ops/matmul.h"
#include "capra/ops/max.h"
#include "capra/ops/reduction.h"
#include "capra/ops/shape_rules.h"
#include "capra/ops/sum.h"
#include "capra/passes/match.h"
#include "capra/targets/stablehlo/rows.h"

namespace capra::stablehlo {
namespace {

// The last two axes of x after the leading axes of `shape`.
ValueId with_leading(FunctionBuilder& builder, ValueId x, const Shape& shape) {
  const Shape own = builder.type(x).shape;
  std::vector<Dim> dims(shape.dims().begin(), shape.dims().end() - 2);
  dims.insert(dims.end(), own.dims().end() - 2, own.dims().end());
  return builder.broadcast(x, Shape(std::move(dims)));
}

// Whether all extents before the last two axes are 1.
bool is_single_matrix(const Shape& shape) {
  return std::all_of(shape.dims().begin(), shape.dims().end() - 2,
                     [](const Dim& dim) { return dim == Dim(1); });
}

// x without its axis of 1 among the last two.
ValueId without_axis(FunctionBuilder& builder, ValueId x, int64_t axis) {
  std::vector<Dim> dims = builder.type(x).shape.dims();
  dims.erase(dims.begin() + axis);
  return builder.reshape(x, Shape(std::move(dims)));
}

// x with its column, or its row where it is transposed, as dim `to` of `shape`, and repeated along
// the other operand's axis. Dims in another order than x has them would be lost by compilers.
ValueId repeated_vector(FunctionBuilder& builder, ValueId x, const Shape& shape, bool transposed,
                        int64_t to) {
  const int64_t rank = builder.type(x).shape.rank();
  const ValueId vector = without_axis(builder, x, transposed ? rank - 2 : rank - 1);
  std::vector<int64_t> dims(static_cast<size_t>(rank - 1));
  std::iota(dims.begin(), dims.end(), shape.rank() - rank);
  dims.back() = to;
  return builder.broadcast(vector, shape, std::move(dims));
}

// One operand of a product with a vector.
struct Factor {
  ValueId value = -1;
  int64_t axis = 0;  ///< along which it is added
};

// The sum of products of matrices with one vector, which compilers make of a matrix of one row or
// column, written as such: with dynamic dims they fail to.
ValueId dot_with_vector(FunctionBuilder& builder, Factor matrices, Factor vector,
                        const Shape& result) {
  const TensorType type = builder.type(matrices.value);
  const Shape shape = builder.type(vector.value).shape;
  const ValueId numbers = builder.reshape(vector.value, Shape({shape[vector.axis]}));
  const ValueId repeated = builder.broadcast(numbers, type.shape, {matrices.axis});
  const ValueId products = builder.apply("stablehlo.multiply", {matrices.value, repeated});
  const ValueId zero = builder.zeros({type.dtype, {}});
  const ValueId sums = builder.reduce("stablehlo.add", products, zero, {matrices.axis});
  return builder.reshape(sums, result);
}

// The sum of products in `wide`, which the operands have or are narrower than.
ValueId dot(FunctionBuilder& builder, ValueId a, ValueId b, const MatmulAttrs& attrs,
            const Shape& result, DType wide) {
  const bool dynamic = !builder.type(a).shape.is_static() || !builder.type(b).shape.is_static();
  const int64_t leading = result.rank() - 2;
  const bool folds = dynamic && leading > 0;
  // A single matrix on the right is used by all on the left.
  std::vector<int64_t> batching;
  Shape shape = result;
  std::vector<int64_t> counts;
  if (builder.type(b).shape.rank() > 2 || (folds && attrs.transpose_a)) {
    a = with_leading(builder, a, result);
    b = with_leading(builder, b, result);
    if (folds && leading > 1) {
      counts = {leading, 1, 1};
      a = builder.fold(a, counts);
      b = builder.fold(b, counts);
      shape = Shape({builder.type(a).shape[0], shape[leading], shape[leading + 1]});
      batching = {0};
    } else {
      for (int64_t i = 0; i < leading; ++i) batching.push_back(i);
    }
  } else if (folds) {
    counts = {leading + 1, 1};
    a = builder.fold(a, counts);
    shape = Shape({builder.type(a).shape[0], shape[leading + 1]});
  }
  const int64_t rank_a = builder.type(a).shape.rank();
  const int64_t rank_b = builder.type(b).shape.rank();
  const ValueId product =
      builder.append({"stablehlo.dot_general",
                      {a, b},
                      {wide, shape},
                      {{"batching", std::move(batching)},
                       {"left", attrs.transpose_a ? rank_a - 2 : rank_a - 1},
                       {"right", attrs.transpose_b ? rank_b - 1 : rank_b - 2}}});
  return counts.empty() ? product : builder.unfold(product, result, std::move(counts));
}

ValueId lower_matmul(FunctionBuilder& builder, const Call& call) {
  const auto attrs = unpack<MatmulAttrs>(call.attrs);
  const DType dtype = call.type.dtype;
  const Shape& shape = call.type.shape;
  ValueId a = call.operands[0];
  ValueId b = call.operands[1];
  // A sum of no products is 0; compilers fail on one.
  if (has_zero(builder.type(a).shape) || has_zero(builder.type(b).shape)) {
    return builder.zeros(call.type);
  }
  // Compilers fold several leading dims themselves, but not dynamic ones. The bits of a product do
  // not depend on the sign.
  const bool dynamic = !builder.type(a).shape.is_static() || !builder.type(b).shape.is_static();
  if (dynamic) {
    a = builder.without_unsigned(a);
    b = builder.without_unsigned(b);
  }
  // f16 and bf16 are added, and multiplied by the factor, in f32.
  const DType wide = is_half(dtype) ? DType::F32 : builder.type(a).dtype;
  const Shape shape_a = builder.type(a).shape;
  const Shape shape_b = builder.type(b).shape;
  const int64_t axis_a = shape_a.rank() - (attrs.transpose_a ? 2 : 1);
  const int64_t axis_b = shape_b.rank() - (attrs.transpose_b ? 1 : 2);
  const int64_t rank = shape.rank();
  const bool is_column = shape[rank - 1] == Dim(1) && is_single_matrix(shape_b);
  const bool is_row = shape[rank - 2] == Dim(1) && is_single_matrix(shape);
  ValueId product = -1;
  if (dynamic && shape_a[axis_a] == Dim(1)) {
    // A sum of one product is that product; with dynamic dims compilers fail on one.
    a = repeated_vector(builder, builder.convert(a, wide), shape, attrs.transpose_a, rank - 2);
    b = repeated_vector(builder, builder.convert(b, wide), shape, !attrs.transpose_b, rank - 1);
    product = builder.apply("stablehlo.multiply", {a, b});
  } else if (dynamic && (is_column || is_row)) {
    a = builder.convert(a, wide);
    b = builder.convert(b, wide);
    const Factor left{a, axis_a};
    const Factor right{b, axis_b};
    product = is_column ? dot_with_vector(builder, left, right, shape)
                        : dot_with_vector(builder, right, left, shape);
  } else {
    product = dot(builder, a, b, attrs, shape, wide);
  }
  if (attrs.factor != 1.0) {
    const ValueId factor = builder.splat(attrs.factor, builder.type(product));
    product = builder.apply("stablehlo.multiply", {product, factor});
  }
  const DType found = builder.type(product).dtype;
  if (is_integer(dtype) && found != dtype) {
    return builder.append({"stablehlo.bitcast_convert", {product}, call.type});
  }
  return builder.convert(product, dtype);
}

// The result of a reduction, with the reduced axes as extents of 1 where the type keeps them.
ValueId keeping_dims(FunctionBuilder& builder, ValueId reduced, const Shape& shape,
                     const std::vector<int64_t>& axes) {
  if (builder.type(reduced).shape == shape) return reduced;
  if (shape.is_static()) return builder.reshape(reduced, shape);
  std::vector<int64_t> dims;
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (std::ranges::find(axes, axis) == axes.end()) dims.push_back(axis);
  }
  return builder.broadcast(reduced, shape, std::move(dims));
}

std::vector<int64_t> axes_of(const Call& call, const TensorType& x) {
  return reduced_axes(unpack<ReduceAttrs>(call.attrs).axes, x.shape.rank()).value_or_throw();
}

// Below or equal to every number of the dtype.
ValueId lowest(FunctionBuilder& builder, DType dtype) {
  const TensorType scalar{dtype, {}};
  if (is_float(dtype)) return builder.splat(-std::numeric_limits<double>::infinity(), scalar);
  if (!is_signed_integer(dtype)) return builder.splat_i64(0, scalar);
  const auto bits = static_cast<int>(8 * dtype_bytes(dtype));
  return builder.splat_i64(std::numeric_limits<int64_t>::min() >> (64 - bits), scalar);
}

ValueId lower_max(FunctionBuilder& builder, const Call& call) {
  const ValueId x = call.operands[0];
  const std::vector<int64_t> axes = axes_of(call, builder.type(x));
  const ValueId initial = lowest(builder, call.type.dtype);
  const ValueId reduced = builder.reduce("stablehlo.maximum", x, initial, axes);
  return keeping_dims(builder, reduced, call.type.shape, axes);
}

// How many elements the axes have.
ValueId count_along(FunctionBuilder& builder, const Shape& shape, const std::vector<int64_t>& axes,
                    DType dtype) {
  ValueId count = -1;
  for (const int64_t axis : axes) {
    const ValueId extent = builder.convert(builder.extent(shape[axis]), dtype);
    count = count < 0 ? extent : builder.apply("stablehlo.multiply", {count, extent});
  }
  return builder.reshape(count, {});
}

ValueId lower_sum(FunctionBuilder& builder, const Call& call) {
  const TensorType from = builder.type(call.operands[0]);
  const std::vector<int64_t> axes = axes_of(call, from);
  const DType dtype = call.type.dtype;
  const DType wide = is_half(dtype) ? DType::F32 : dtype;
  // Compilers would make the ones and add them, and some give up on that.
  if (!axes.empty() && builder.is_repeated(call.operands[0], 1)) {
    const ValueId count = count_along(builder, from.shape, axes, wide);
    return builder.convert(builder.broadcast(count, call.type.shape), dtype);
  }
  const ValueId x = builder.convert(call.operands[0], wide);
  const ValueId zero = builder.zeros({wide, {}});
  // IREE takes the sum of all of a product for one of matrices without rows or columns, and gives
  // up: the last axis is added first.
  ValueId reduced = x;
  std::vector<int64_t> left = axes;
  if (std::ssize(axes) == from.shape.rank() && axes.size() > 1 &&
      builder.is_made_by("stablehlo.multiply", call.operands[0])) {
    reduced = builder.reduce("stablehlo.add", reduced, zero, {left.back()});
    left.pop_back();
  }
  reduced = builder.reduce("stablehlo.add", reduced, zero, left);
  const ValueId shaped = keeping_dims(builder, reduced, call.type.shape, axes);
  return builder.convert(shaped, dtype);
}

// The least index whose element is the greatest, or a NaN.
ValueId lower_argmax(FunctionBuilder& builder, const Call& call) {
  const auto attrs = unpack<ArgmaxAttrs>(call.attrs);
  const ValueId x = call.operands[0];
  const TensorType type = builder.type(x);
  const int64_t rank = type.shape.rank();
  const int64_t axis = position_of(attrs.axis, rank);
  const ValueId greatest =
      builder.reduce("stablehlo.maximum", x, lowest(builder, type.dtype), {axis});
  std::vector<int64_t> others;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis) others.push_back(i);
  }
  const ValueId everywhere = builder.broadcast(greatest, type.shape, std::move(others));
  ValueId found = builder.compare("EQ", x, everywhere);
  if (is_float(type.dtype)) {
    const ValueId no_number = builder.compare("NE", x, x);
    found = builder.apply("stablehlo.or", {found, no_number});
  }
  const TensorType indices{DType::I64, type.shape};
  const ValueId index = builder.iota(type.shape, axis);
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  const ValueId none = builder.splat_i64(kNone, indices);
  const ValueId candidates = builder.select(found, index, none);
  const ValueId initial = builder.splat_i64(kNone, {DType::I64, {}});
  const ValueId least = builder.reduce("stablehlo.minimum", candidates, initial, {axis});
  return keeping_dims(builder, least, call.type.shape, {axis});
}

}  // namespace

constinit const StablehloRow kReduceRows[4] = {
    {{.op = &kArgmax}, lower_argmax},
    {{.op = &kMatmul,
      .accuracy = {.max_ulp = 2, .max_ulp_per_term = 1, .note = kOfMagnitudes},
      .accuracy_reason = kAnyOrder},
     lower_matmul},
    {{.op = &kMax}, lower_max},
    {{.op = &kSum,
      .accuracy = {.max_ulp = 1, .max_ulp_per_term = 1, .note = kOfMagnitudes},
      .accuracy_reason = kAnyOrder},
     lower_sum},
};

}  // namespace capra::stablehlo
