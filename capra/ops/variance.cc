// The record of variance.
#include "capra/ops/variance.h"

#include "capra/ops/arithmetic.h"
#include "capra/ops/mean.h"
#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

Tensor decompose(const Tensor& x, const ReduceAttrs& attrs) {
  const Tensor wide = widened(x);
  const Tensor center = mean(wide, {.axes = attrs.axes, .keep_dims = true});
  const Tensor deviation = wide - center;
  const Tensor square = deviation * deviation;
  const Tensor result = mean(square, attrs);
  return narrowed(result, x.dtype());
}

constexpr std::string_view kOperands0[] = {"f64[2, 4] [[1, 2, 3, 4], [5, 5, 5, 5]]"};
constexpr std::string_view kOperands1[] = {"f64[1, 2] [[1, 3]]"};
constexpr std::string_view kOperands2[] = {"f64[3] [1000000, 1000001, 1000002]"};
constexpr std::string_view kOperands3[] = {"f64[2] [1, inf]"};
constexpr Example kExamples[] = {
    {.attrs = "axes = [1]",
     .operands = kOperands0,
     .result = "f64[2] [1.25, 0]",
     .source = "NumPy 2.4, f64, var"},
    {.attrs = "axes = [-1], keep_dims = true",
     .operands = kOperands1,
     .result = "f64[1, 1] [[1]]",
     .source = "NumPy 2.4, f64, var"},
    {.operands = kOperands2,
     .result = "f64 0.6666666666666666",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
    {.attrs = "axes = [0]", .operands = kOperands3, .result = "f64 nan", .source = "IEEE 754"},
};

}  // namespace

constinit const OpDef kVariance{
    .name = "variance",
    .formula = "mean of (x - mean(x))^2 over axes",
    .summary = "Population variance over axes.",
    .prose =
        "Without axes every axis is reduced. Divides by the number of elements, not one less. Two "
        "passes, so a large mean does not cancel. Floats only. The variance of nothing is NaN.",
    .operands = kReduceOperands,
    .attrs = attrs_of<ReduceAttrs>(),
    .infer = erase_infer<infer_float_reduction>,
    .decompose = erase_decompose<decompose>,
    .accuracy = {.max_ulp = 32, .note = "for a mean within a few standard deviations of 0"},
    .composite = {"capra.variance", 1},
    .examples = kExamples,
};

Tensor variance(const Tensor& x, const ReduceAttrs& attrs) {
  return apply(kVariance, {x}, pack(attrs));
}

}  // namespace capra
