// The record of rsqrt.
#include "capra/ops/rsqrt.h"

#include "capra/ops/arithmetic.h"
#include "capra/ops/shape_rules.h"
#include "capra/ops/sqrt.h"

namespace capra {
namespace {

Tensor decompose(const Tensor& x, const NoAttrs&) {
  const Tensor wide = widened(x);
  const Tensor root = sqrt(wide);
  const Tensor result = 1.0 / root;
  return narrowed(result, x.dtype());
}

constexpr std::string_view kOperands0[] = {"f64[4] [4, 2, 0.25, 10000]"};
constexpr std::string_view kOperands1[] = {"f64[5] [0, -0, inf, -1, nan]"};
constexpr std::string_view kOperands2[] = {"f64 9"};
constexpr Example kExamples[] = {
    {.operands = kOperands0,
     .result = "f64[4] [0.5, 0.7071067811865476, 2, 0.01]",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
    {.operands = kOperands1,
     .result = "f64[5] [inf, -inf, 0, nan, nan]",
     .source = "IEEE 754 sqrt and division"},
    {.operands = kOperands2,
     .result = "f64 0.3333333333333333",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
};

}  // namespace

constinit const OpDef kRsqrt{
    .name = "rsqrt",
    .formula = "1 / sqrt(x)",
    .summary = "Reciprocal square root of the operand.",
    .prose = "Two rounded steps, not an approximation. Of 0 infinity, of a negative number NaN.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_float_unary>,
    .decompose = erase_decompose<decompose>,
    .accuracy = {.max_ulp = 1.5},
    .composite = {"capra.rsqrt", 1},
    .examples = kExamples,
};

Tensor rsqrt(const Tensor& x) { return apply(kRsqrt, {x}, {}); }

}  // namespace capra
