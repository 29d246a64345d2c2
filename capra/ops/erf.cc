// The record of erf.
#include "capra/ops/erf.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr std::string_view kOperands0[] = {"f64[4] [0.5, 1, -2, 0.0009765625]"};
constexpr std::string_view kOperands1[] = {"f64[5] [0, -0, inf, -inf, nan]"};
constexpr std::string_view kOperands2[] = {"f64[2, 0] [[], []]"};
constexpr std::string_view kOperands3[] = {"f64 1"};
constexpr Example kExamples[] = {
    {.operands = kOperands0,
     .result = "f64[4] [0.5204998778130465, 0.8427007929497149, -0.9953222650189527, "
               "0.0011019324300718147]",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
    {.operands = kOperands1,
     .result = "f64[5] [0, -0, 1, -1, nan]",
     .source = "limits and IEEE 754"},
    {.operands = kOperands2,
     .result = "f64[2, 0] [[], []]",
     .source = "an empty tensor stays empty"},
    {.operands = kOperands3,
     .result = "f64 0.8427007929497149",
     .source = "Abramowitz and Stegun, table 7.1: 0.8427007929"},
};

}  // namespace

constinit const OpDef kErf{
    .name = "erf",
    .formula = "2 / sqrt(pi) integral of exp(-t^2) from 0 to x",
    .summary = "The error function.",
    .prose = "Odd, erf(0) = 0. Near 1 use erfc for 1 - erf(x).",
    .operands = kUnaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_float_unary>,
    .accuracy = {.max_ulp = 1.5},
    .composite = {"skainet.erf", 1},
    .examples = kExamples,
};

Tensor erf(const Tensor& x) { return apply(kErf, {x}, {}); }

}  // namespace capra
