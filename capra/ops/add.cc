// The record of add.
#include "capra/ops/add.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr std::string_view kOperands0[] = {"f64[3] [1.5, -2, 0.25]", "f64[3] [0.5, 3, -0.125]"};
constexpr std::string_view kOperands1[] = {"f64[2, 1] [[1], [2]]", "f64[3] [10, 20, 30]"};
constexpr std::string_view kOperands2[] = {"f64[4] [inf, inf, nan, -0]", "f64[4] [-inf, 1, 0, -0]"};
constexpr std::string_view kOperands3[] = {"i8[2] [127, -128]", "i8[2] [1, -1]"};
constexpr std::string_view kOperands4[] = {"f64[2, 2] [[1.5, -2], [0.25, 4]]",
                                           "f64[2, 2] [[0.5, 3], [-0.125, -4]]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0, .result = "f64[3] [2, 1, 0.125]", .source = "IEEE 754"},
    {.operands = kOperands1,
     .result = "f64[2, 3] [[11, 21, 31], [12, 22, 32]]",
     .source = "NumPy 2.4, f64 broadcasting"},
    {.operands = kOperands2, .result = "f64[4] [nan, inf, nan, -0]", .source = "IEEE 754"},
    {.operands = kOperands3, .result = "i8[2] [-128, 127]", .source = "two's complement"},
    {.operands = kOperands4, .result = "f64[2, 2] [[2, 1], [0.125, 0]]", .source = "IEEE 754"},
};

}  // namespace

constinit const OpDef kAdd{
    .name = "add",
    .formula = "a + b",
    .summary = "Sum of two tensors.",
    .prose = "Shapes broadcast like NumPy; dtypes must be equal. Integers wrap.",
    .operands = kBinaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_number_binary>,
    .accuracy = {},
    .examples = kExamples,
};

Tensor add(const Tensor& a, const Tensor& b) { return apply(kAdd, {a, b}, {}); }

}  // namespace capra
