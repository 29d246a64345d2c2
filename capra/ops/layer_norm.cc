// The record of layer_norm.
#include "capra/ops/layer_norm.h"

#include <fmt/format.h>
#include <cmath>

#include "capra/ops/arithmetic.h"
#include "capra/ops/mean.h"
#include "capra/ops/rsqrt.h"
#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr Operand kOperands[] = {
    {"x", "[..., n]"},
    {"gamma", "[n], dtype of x; multiplies", Arity::Optional},
    {"beta", "[n], dtype of x; is added", Arity::Optional},
};

Status check_row(const TensorType& x, const TensorType* row, std::string_view name) {
  if (row == nullptr) return {};
  CAPRA_TRY(require_same_dtype(x, "x", *row, name));
  const Dim& extent = x.shape[x.shape.rank() - 1];
  if (row->shape == Shape{extent}) return {};
  return fail("operand-shape", fmt::format("{} has shape {}, [{}] is needed", name,
                                           row->shape.text(), extent.text()));
}

Result<TensorType> infer(const TensorType& x, const TensorType* gamma, const TensorType* beta,
                         const LayerNormAttrs& attrs) {
  CAPRA_TRY(require_float(x));
  CAPRA_TRY(require_rank(x, 1, "x"));
  CAPRA_TRY(check_row(x, gamma, "gamma"));
  CAPRA_TRY(check_row(x, beta, "beta"));
  if (!(attrs.eps >= 0) || std::isinf(attrs.eps)) {
    return fail("attribute-invalid",
                fmt::format("eps is {}, a finite number >= 0 is needed", attrs.eps));
  }
  return x;
}

Tensor decompose(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                 const LayerNormAttrs& attrs) {
  const ReduceAttrs over{.axes = {-1}, .keep_dims = true};
  const Tensor wide = widened(x);
  const Tensor center = mean(wide, over);
  const Tensor deviation = wide - center;
  const Tensor square = deviation * deviation;
  const Tensor spread = mean(square, over);
  const Tensor stable = spread + attrs.eps;
  const Tensor scale = rsqrt(stable);
  Tensor result = deviation * scale;
  if (gamma) {
    const Tensor wide_gamma = widened(gamma);
    result = result * wide_gamma;
  }
  if (beta) {
    const Tensor wide_beta = widened(beta);
    result = result + wide_beta;
  }
  return narrowed(result, x.dtype());
}

constexpr std::string_view kOperands0[] = {"f64[2, 3] [[1, 2, 3], [-1, 0, 4]]"};
constexpr std::string_view kOperands1[] = {"f64[4] [1, 2, 3, 6]", "f64[4] [1, 2, 0.5, -1]",
                                           "f64[4] [0, 1, -1, 0.5]"};
constexpr std::string_view kOperands2[] = {"f64[1, 2] [[4, 4]]", "_", "f64[2] [0.5, -0.5]"};
constexpr std::string_view kOperands3[] = {"f64[2] [1, nan]"};
constexpr Example kExamples[] = {
    {.attrs = "eps = 0",
     .operands = kOperands0,
     .result = "f64[2, 3] [[-1.224744871391589, 0, 1.224744871391589], [-0.9258200997725514, "
               "-0.4629100498862757, 1.3887301496588271]]",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
    {.operands = kOperands1,
     .result = "f64[4] [-1.0690434404458735, -0.06904344044587347, -1, -1.1035651606688102]",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
    {.attrs = "eps = 1e-12",
     .operands = kOperands2,
     .result = "f64[1, 2] [[0.5, -0.5]]",
     .source = "a constant row has deviation 0"},
    {.operands = kOperands3, .result = "f64[2] [nan, nan]", .source = "IEEE 754"},
};

}  // namespace

constinit const OpDef kLayerNorm{
    .name = "layer_norm",
    .formula = "(x - mean) / sqrt(variance + eps) gamma + beta, over the last axis",
    .summary = "The last axis brought to mean 0 and variance 1, then scaled and shifted.",
    .prose =
        "Population variance in two passes. `gamma` and `beta` are each optional. An operand with "
        "a NaN or infinity in a row makes that row NaN.",
    .operands = kOperands,
    .attrs = attrs_of<LayerNormAttrs>(),
    .infer = erase_infer<infer>,
    .decompose = erase_decompose<decompose>,
    .accuracy = {.max_abs = 4e-6,
                 .max_ulp = 8,
                 .note = "for rows whose mean is within a few standard deviations of 0"},
    .composite = {"capra.layer_norm", 1},
    .examples = kExamples,
};

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, LayerNormAttrs attrs) {
  return apply(kLayerNorm, {x, gamma, beta}, pack(attrs));
}

}  // namespace capra
