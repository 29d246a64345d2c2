// The record of exp.
#include "capra/ops/exp.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr std::string_view kOperands0[] = {"f64[5] [1, -1, 0.5, 10, -20]"};
constexpr std::string_view kOperands1[] = {"f64[5] [0, -0, inf, -inf, nan]"};
constexpr std::string_view kOperands2[] = {"f64[2, 0] [[], []]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0,
     .result = "f64[5] [2.718281828459045, 0.36787944117144233, 1.6487212707001282, "
               "22026.465794806718, 2.061153622438558e-09]",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
    {.operands = kOperands1,
     .result = "f64[5] [1, 1, inf, 0, nan]",
     .source = "limits and IEEE 754"},
    {.operands = kOperands2,
     .result = "f64[2, 0] [[], []]",
     .source = "an empty tensor stays empty"},
};

}  // namespace

constinit const OpDef kExp{
    .name = "exp",
    .formula = "e^x",
    .summary = "e to the power of the operand.",
    .prose = "Overflows to infinity; subnormal results are kept.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_float_unary>,
    .accuracy = {.max_ulp = 1},
    .examples = kExamples,
};

Tensor exp(const Tensor& x) { return apply(kExp, {x}, {}); }

}  // namespace capra
