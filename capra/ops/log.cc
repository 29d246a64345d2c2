// The record of log.
#include "capra/ops/log.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr std::string_view kOperands0[] = {"f64[5] [2, 10, 0.5, 0.0009765625, 3]"};
constexpr std::string_view kOperands1[] = {"f64[5] [1, 0, -1, inf, nan]"};
constexpr std::string_view kOperands2[] = {"f64[2, 0] [[], []]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0,
     .result = "f64[5] [0.6931471805599453, 2.302585092994046, -0.6931471805599453, "
               "-6.931471805599453, 1.0986122886681098]",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
    {.operands = kOperands1,
     .result = "f64[5] [0, -inf, nan, inf, nan]",
     .source = "limits and IEEE 754"},
    {.operands = kOperands2,
     .result = "f64[2, 0] [[], []]",
     .source = "an empty tensor stays empty"},
};

}  // namespace

constinit const OpDef kLog{
    .name = "log",
    .formula = "ln x",
    .summary = "Natural logarithm of the operand.",
    .prose = "Of zero -infinity, of a negative number NaN.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_float_unary>,
    .accuracy = {.max_ulp = 1},
    .examples = kExamples,
};

Tensor log(const Tensor& x) { return apply(kLog, {x}, {}); }

}  // namespace capra
