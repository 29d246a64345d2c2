// The record of mul.
#include "capra/ops/mul.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr std::string_view kOperands0[] = {"f64[3] [1.5, -2, 0.25]", "f64[3] [0.5, 3, -0.125]"};
constexpr std::string_view kOperands1[] = {"f64[2, 1] [[1], [2]]", "f64[3] [10, 20, 30]"};
constexpr std::string_view kOperands2[] = {"f64[3] [inf, -0, nan]", "f64[3] [0, 2, 2]"};
constexpr std::string_view kOperands3[] = {"f64[0, 2] []", "f64[2] [1, 2]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0, .result = "f64[3] [0.75, -6, -0.03125]", .source = "IEEE 754"},
    {.operands = kOperands1,
     .result = "f64[2, 3] [[10, 20, 30], [20, 40, 60]]",
     .source = "NumPy 2.4, f64 broadcasting"},
    {.operands = kOperands2, .result = "f64[3] [nan, -0, nan]", .source = "IEEE 754"},
    {.operands = kOperands3,
     .result = "f64[0, 2] []",
     .source = "NumPy 2.4, f64 broadcasting of an empty tensor"},
};

}  // namespace

constinit const OpDef kMul{
    .name = "mul",
    .formula = "a b",
    .summary = "Product of two tensors, element by element.",
    .prose = "Shapes broadcast like NumPy; dtypes must be equal. Integers wrap.",
    .operands = kBinaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_number_binary>,
    .accuracy = {},
    .examples = kExamples,
};

Tensor mul(const Tensor& a, const Tensor& b) { return apply(kMul, {a, b}, {}); }

}  // namespace capra
