// The record of abs.
#include "capra/ops/abs.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr std::string_view kOperands0[] = {"f64[4] [1.5, -2, -0, -inf]"};
constexpr std::string_view kOperands1[] = {"i32[1, 2] [[-7, 7]]"};
constexpr std::string_view kOperands2[] = {"i8[1] [-128]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0, .result = "f64[4] [1.5, 2, 0, inf]", .source = "IEEE 754"},
    {.operands = kOperands1, .result = "i32[1, 2] [[7, 7]]", .source = "two's complement"},
    {.operands = kOperands2, .result = "i8[1] [-128]", .source = "two's complement"},
};

}  // namespace

constinit const OpDef kAbs{
    .name = "abs",
    .formula = "|x|",
    .summary = "The magnitude of the operand.",
    .prose = "Clears the sign bit of a float. The least integer wraps to itself.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_number_unary>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .examples = kExamples,
};

Tensor abs(const Tensor& x) { return apply(kAbs, {x}, {}); }

}  // namespace capra
