// The record of sqrt.
#include "capra/ops/sqrt.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr std::string_view kOperands0[] = {"f64[4] [2, 3, 0.5, 1024]"};
constexpr std::string_view kOperands1[] = {"f64[5] [0, -0, -1, inf, nan]"};
constexpr std::string_view kOperands2[] = {"f64[2, 0] [[], []]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0,
     .result = "f64[4] [1.4142135623730951, 1.7320508075688772, 0.7071067811865476, 32]",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
    {.operands = kOperands1, .result = "f64[5] [0, -0, nan, inf, nan]", .source = "IEEE 754"},
    {.operands = kOperands2,
     .result = "f64[2, 0] [[], []]",
     .source = "an empty tensor stays empty"},
};

}  // namespace

constinit const OpDef kSqrt{
    .name = "sqrt",
    .formula = "sqrt(x)",
    .summary = "Square root of the operand.",
    .prose = "Correctly rounded. Of a negative number NaN, of -0 -0.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_float_unary>,
    .accuracy = {},
    .examples = kExamples,
};

Tensor sqrt(const Tensor& x) { return apply(kSqrt, {x}, {}); }

}  // namespace capra
