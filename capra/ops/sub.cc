// The record of sub.
#include "capra/ops/sub.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr std::string_view kOperands0[] = {"f64[3] [1.5, -2, 0.25]", "f64[3] [0.5, 3, -0.125]"};
constexpr std::string_view kOperands1[] = {"f64[2, 1] [[1], [2]]", "f64[3] [10, 20, 30]"};
constexpr std::string_view kOperands2[] = {"f64[3] [inf, 1, nan]", "f64[3] [inf, inf, 0]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0, .result = "f64[3] [1, -5, 0.375]", .source = "IEEE 754"},
    {.operands = kOperands1,
     .result = "f64[2, 3] [[-9, -19, -29], [-8, -18, -28]]",
     .source = "NumPy 2.4, f64 broadcasting"},
    {.operands = kOperands2, .result = "f64[3] [nan, -inf, nan]", .source = "IEEE 754"},
};

}  // namespace

constinit const OpDef kSub{
    .name = "sub",
    .formula = "a - b",
    .summary = "Difference of two tensors.",
    .prose = "Shapes broadcast like NumPy; dtypes must be equal. Integers wrap.",
    .operands = kBinaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_number_binary>,
    .accuracy = {},
    .examples = kExamples,
};

Tensor sub(const Tensor& a, const Tensor& b) { return apply(kSub, {a, b}, {}); }

}  // namespace capra
