// The record of linear.
#include "capra/ops/linear.h"

#include <fmt/format.h>

#include "capra/ops/arithmetic.h"
#include "capra/ops/matmul.h"
#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr Operand kOperands[] = {
    {"x", "[..., rows, in]"},
    {"weight", "[out, in], dtype of x"},
    {"bias", "[out], dtype of x", Arity::Optional},
};

constexpr std::string_view kParallelDims[] = {"rows"};

Result<TensorType> infer(const TensorType& x, const TensorType& weight, const TensorType* bias,
                         const NoAttrs&) {
  CAPRA_TRY(require_float(x));
  CAPRA_TRY(require_rank(x, 2, "x"));
  CAPRA_TRY(require_same_dtype(x, "x", weight, "weight"));
  const Dim& in = x.shape[x.shape.rank() - 1];
  if (weight.shape.rank() != 2 || weight.shape[1] != in) {
    return fail("operand-shape", fmt::format("weight has shape {}, [out, {}] is needed",
                                             weight.shape.text(), in.text()));
  }
  const Dim& out = weight.shape[0];
  if (bias != nullptr) {
    CAPRA_TRY(require_same_dtype(x, "x", *bias, "bias"));
    if (bias->shape != Shape{out}) {
      return fail("operand-shape",
                  fmt::format("bias has shape {}, [{}] is needed", bias->shape.text(), out.text()));
    }
  }
  Shape shape = x.shape;
  shape[shape.rank() - 1] = out;
  return sized_type(x.dtype, std::move(shape));
}

Tensor decompose(const Tensor& x, const Tensor& weight, const Tensor& bias, const NoAttrs&) {
  Tensor product = matmul(x, weight, {.transpose_b = true});
  if (!bias) return product;
  return product + bias;
}

constexpr std::string_view kOperands0[] = {
    "f64[2, 2] [[1, 2], [3, -1]]", "f64[3, 2] [[1, 0], [0.5, 2], [-1, 1]]", "f64[3] [1, 0, -0.5]"};
constexpr std::string_view kOperands1[] = {"f64[2, 2] [[1, 2], [3, -1]]",
                                           "f64[3, 2] [[1, 0], [0.5, 2], [-1, 1]]"};
constexpr std::string_view kOperands2[] = {"f64[1, 0] [[]]", "f64[2, 0] [[], []]",
                                           "f64[2] [1, nan]"};
constexpr std::string_view kOperands3[] = {"f64[2, 1, 2] [[[1, 2]], [[3, -1]]]",
                                           "f64[3, 2] [[1, 0], [0.5, 2], [-1, 1]]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0,
     .result = "f64[2, 3] [[2, 4.5, 0.5], [4, -0.5, -4.5]]",
     .source = "NumPy 2.4, f64"},
    {.operands = kOperands1,
     .result = "f64[2, 3] [[1, 4.5, 1], [3, -0.5, -4]]",
     .source = "NumPy 2.4, f64"},
    {.operands = kOperands2,
     .result = "f64[1, 2] [[1, nan]]",
     .source = "an empty sum is 0; IEEE 754"},
    {.operands = kOperands3,
     .result = "f64[2, 1, 3] [[[1, 4.5, 1]], [[3, -0.5, -4]]]",
     .source = "NumPy 2.4, f64"},
};

}  // namespace

constinit const OpDef kLinear{
    .name = "linear",
    .formula = "x weight^T + bias",
    .summary = "The product with a weight stored as [out, in], plus a bias.",
    .prose =
        "The layout of a checkpoint: one row of `weight` an output. Floats only. The bias is added "
        "to the finished product, a rounded step of its own.",
    .operands = kOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer>,
    .decompose = erase_decompose<decompose>,
    .accuracy = {.max_ulp = 16, .note = kOfMagnitudes},
    .composite = {"capra.linear", 1},
    .parallel_dims = kParallelDims,
    .examples = kExamples,
};

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return apply(kLinear, {x, weight, bias}, {});
}

}  // namespace capra
