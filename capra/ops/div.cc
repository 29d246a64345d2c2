// The record of div.
#include "capra/ops/div.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr std::string_view kOperands0[] = {"f64[3] [1, -7, 0]", "f64[3] [4, 2, -3]"};
constexpr std::string_view kOperands1[] = {"f64[3] [1, -1, 0]", "f64 0"};
constexpr std::string_view kOperands2[] = {"i8[4] [7, -7, 5, -128]", "i8[4] [2, 2, 0, -1]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0, .result = "f64[3] [0.25, -3.5, -0]", .source = "IEEE 754"},
    {.operands = kOperands1, .result = "f64[3] [inf, -inf, nan]", .source = "IEEE 754"},
    {.operands = kOperands2,
     .result = "i8[4] [3, -3, 0, -128]",
     .source = "C++ integer division; the last two are this op's definition"},
};

}  // namespace

constinit const OpDef kDiv{
    .name = "div",
    .formula = "a / b",
    .summary = "Quotient of two tensors, element by element.",
    .prose =
        "Shapes broadcast like NumPy; dtypes must be equal. Integers truncate toward zero; an "
        "integer divided by zero gives 0, and the least value divided by -1 wraps.",
    .operands = kBinaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_number_binary>,
    .accuracy = {},
    .examples = kExamples,
};

Tensor div(const Tensor& a, const Tensor& b) { return apply(kDiv, {a, b}, {}); }

}  // namespace capra
