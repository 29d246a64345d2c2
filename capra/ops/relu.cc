// The record of relu.
#include "capra/ops/relu.h"

#include "capra/ops/arithmetic.h"
#include "capra/ops/maximum.h"
#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

Tensor decompose(const Tensor& x, const NoAttrs&) {
  const Tensor zero = scalar_like(x, 0.0);
  return maximum(x, zero);
}

constexpr std::string_view kOperands0[] = {"f64[3] [1.5, -2, 0]"};
constexpr std::string_view kOperands1[] = {"f64[4] [nan, -0, inf, -inf]"};
constexpr std::string_view kOperands2[] = {"i32[2] [3, -3]"};
constexpr std::string_view kOperands3[] = {"f64[2, 2] [[1.5, -2], [-0.25, 3]]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0,
     .result = "f64[3] [1.5, 0, 0]",
     .source = "NumPy 2.4, f64, maximum(x, 0)"},
    {.operands = kOperands1,
     .result = "f64[4] [nan, 0, inf, 0]",
     .source = "IEEE 754-2019 maximum"},
    {.operands = kOperands2, .result = "i32[2] [3, 0]", .source = "NumPy 2.4, maximum(x, 0)"},
    {.operands = kOperands3,
     .result = "f64[2, 2] [[1.5, 0], [0, 3]]",
     .source = "NumPy 2.4, f64, maximum(x, 0)"},
};

}  // namespace

constinit const OpDef kRelu{
    .name = "relu",
    .formula = "max(x, 0)",
    .summary = "Rectified linear unit.",
    .prose = "A NaN stays NaN and -0 gives +0. Floats and integers.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_number_unary>,
    .decompose = erase_decompose<decompose>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .composite = {"capra.relu", 1},
    .examples = kExamples,
};

Tensor relu(const Tensor& x) { return apply(kRelu, {x}, {}); }

}  // namespace capra
