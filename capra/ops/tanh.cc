// The record of tanh.
#include "capra/ops/tanh.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr std::string_view kOperands0[] = {"f64[4] [1, -0.5, 0.0009765625, 5]"};
constexpr std::string_view kOperands1[] = {"f64[5] [0, -0, inf, -inf, nan]"};
constexpr std::string_view kOperands2[] = {"f64[2, 0] [[], []]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0,
     .result = "f64[4] [0.7615941559557649, -0.46211715726000974, 0.0009765621895592603, "
               "0.9999092042625951]",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
    {.operands = kOperands1,
     .result = "f64[5] [0, -0, 1, -1, nan]",
     .source = "limits and IEEE 754"},
    {.operands = kOperands2,
     .result = "f64[2, 0] [[], []]",
     .source = "an empty tensor stays empty"},
};

}  // namespace

constinit const OpDef kTanh{
    .name = "tanh",
    .formula = "(e^x - e^-x) / (e^x + e^-x)",
    .summary = "Hyperbolic tangent of the operand.",
    .prose = "Odd: tanh(-x) = -tanh(x) to the bit.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_float_unary>,
    .accuracy = {.max_ulp = 1.5},
    .examples = kExamples,
};

Tensor tanh(const Tensor& x) { return apply(kTanh, {x}, {}); }

}  // namespace capra
