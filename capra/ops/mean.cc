// The record of mean.
#include "capra/ops/mean.h"

#include "capra/ops/arithmetic.h"
#include "capra/ops/broadcast.h"
#include "capra/ops/shape_rules.h"
#include "capra/ops/sum.h"

namespace capra {
namespace {

// How many elements are reduced, as a scalar: a number, or a sum of ones over symbolic dims.
Tensor count_like(const Tensor& x, std::span<const int64_t> axes) {
  std::vector<Dim> reduced;
  for (const int64_t axis : axes) reduced.push_back(x.shape()[axis]);
  const Shape shape(std::move(reduced));
  if (const auto elements = shape.elements()) return scalar_like(x, static_cast<double>(*elements));
  const Tensor one = scalar_like(x, 1.0);
  const Tensor ones = broadcast(one, shape);
  return sum(ones);
}

Tensor decompose(const Tensor& x, const ReduceAttrs& attrs) {
  const std::vector<int64_t> axes = reduced_axes(attrs.axes, x.shape().rank()).value_or_throw();
  const Tensor wide = widened(x);
  const Tensor total = sum(wide, attrs);
  const Tensor count = count_like(wide, axes);
  const Tensor result = total / count;
  return narrowed(result, x.dtype());
}

constexpr std::string_view kOperands0[] = {"f64[2, 3] [[1, 2, 4], [-1, 0.5, 8]]"};
constexpr std::string_view kOperands1[] = {"f64[2, 3] [[1, 2, 4], [-1, 0.5, 8]]"};
constexpr std::string_view kOperands2[] = {"f64[3] [1, 2, 6]"};
constexpr std::string_view kOperands3[] = {"f64[0, 2] []"};
constexpr Example kExamples[] = {
    {.attrs = "axes = [1]",
     .operands = kOperands0,
     .result = "f64[2] [2.3333333333333335, 2.5]",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
    {.attrs = "axes = [-2], keep_dims = true",
     .operands = kOperands1,
     .result = "f64[1, 3] [[0, 1.25, 6]]",
     .source = "NumPy 2.4, f64"},
    {.operands = kOperands2, .result = "f64 3", .source = "NumPy 2.4, f64"},
    {.attrs = "axes = [0]",
     .operands = kOperands3,
     .result = "f64[2] [nan, nan]",
     .source = "0 / 0"},
};

}  // namespace

constinit const OpDef kMean{
    .name = "mean",
    .formula = "sum of x over axes / number of elements",
    .summary = "Arithmetic mean over axes.",
    .prose =
        "Without axes every axis is reduced. Floats only: the mean of integers would need a "
        "rounding rule, so convert first. The mean of nothing is NaN.",
    .operands = kReduceOperands,
    .attrs = attrs_of<ReduceAttrs>(),
    .infer = erase_infer<infer_float_reduction>,
    .decompose = erase_decompose<decompose>,
    .accuracy = {.max_ulp = 8, .note = kOfMagnitudes},
    .composite = {"capra.mean", 1},
    .examples = kExamples,
};

Tensor mean(const Tensor& x, const ReduceAttrs& attrs) { return apply(kMean, {x}, pack(attrs)); }

}  // namespace capra
