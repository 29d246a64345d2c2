// The record of logical_or.
#include "capra/ops/logical_or.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr std::string_view kOperands0[] = {"bool[4] [true, true, false, false]",
                                           "bool[4] [true, false, true, false]"};
constexpr std::string_view kOperands1[] = {"bool[2, 1] [[true], [false]]", "bool[2] [true, false]"};
constexpr std::string_view kOperands2[] = {"bool[0] []", "bool true"};
constexpr Example kExamples[] = {
    {.operands = kOperands0,
     .result = "bool[4] [true, true, true, false]",
     .source = "truth table"},
    {.operands = kOperands1,
     .result = "bool[2, 2] [[true, true], [true, false]]",
     .source = "truth table"},
    {.operands = kOperands2,
     .result = "bool[0] []",
     .source = "NumPy 2.4 broadcasting of an empty tensor"},
};

}  // namespace

constinit const OpDef kLogicalOr{
    .name = "logical_or",
    .formula = "a or b",
    .summary = "True where either operand is.",
    .prose = "Operands are bool and broadcast like NumPy.",
    .operands = kBinaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_logical_binary>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .examples = kExamples,
};

Tensor logical_or(const Tensor& a, const Tensor& b) { return apply(kLogicalOr, {a, b}, {}); }

}  // namespace capra
