// The record of sigmoid.
#include "capra/ops/sigmoid.h"

#include "capra/ops/abs.h"
#include "capra/ops/arithmetic.h"
#include "capra/ops/compare.h"
#include "capra/ops/exp.h"
#include "capra/ops/select.h"
#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

Tensor decompose(const Tensor& x, const NoAttrs&) {
  const Tensor wide = widened(x);
  const Tensor magnitude = abs(wide);
  const Tensor exponent = -magnitude;
  const Tensor e = exp(exponent);
  const Tensor denominator = e + 1.0;
  const Tensor zero = scalar_like(wide, 0.0);
  const Tensor negative = compare(wide, zero, {.direction = "lt"});
  const Tensor one = scalar_like(wide, 1.0);
  const Tensor numerator = select(negative, e, one);
  const Tensor result = numerator / denominator;
  return narrowed(result, x.dtype());
}

constexpr std::string_view kOperands0[] = {"f64[5] [0, 1, -1, 5, -30]"};
constexpr std::string_view kOperands1[] = {"f64[3] [inf, -inf, nan]"};
constexpr std::string_view kOperands2[] = {"f64 -100"};
constexpr Example kExamples[] = {
    {.operands = kOperands0,
     .result = "f64[5] [0.5, 0.7310585786300049, 0.2689414213699951, 0.9933071490757152, "
               "9.357622968839299e-14]",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
    {.operands = kOperands1, .result = "f64[3] [1, 0, nan]", .source = "limits and IEEE 754"},
    {.operands = kOperands2,
     .result = "f64 3.720075976020836e-44",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
};

}  // namespace

constinit const OpDef kSigmoid{
    .name = "sigmoid",
    .formula = "1 / (1 + e^-x)",
    .summary = "The logistic function.",
    .prose =
        "Only exponentials of negative numbers are taken, so the left tail keeps its relative "
        "accuracy down to subnormal results.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_float_unary>,
    .decompose = erase_decompose<decompose>,
    .accuracy = {.max_ulp = 3},
    .composite = {"capra.sigmoid", 1},
    .examples = kExamples,
};

Tensor sigmoid(const Tensor& x) { return apply(kSigmoid, {x}, {}); }

}  // namespace capra
