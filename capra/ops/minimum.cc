// The record of minimum.
#include "capra/ops/minimum.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr std::string_view kOperands0[] = {"f64[3] [1.5, -2, 0.25]", "f64[3] [0.5, 3, -0.125]"};
constexpr std::string_view kOperands1[] = {"f64[4] [nan, 1, -0, 0]", "f64[4] [1, nan, 0, -0]"};
constexpr std::string_view kOperands2[] = {"i32[2] [3, -5]", "i32 -1"};
constexpr Example kExamples[] = {
    {.operands = kOperands0, .result = "f64[3] [0.5, -2, -0.125]", .source = "NumPy 2.4, f64"},
    {.operands = kOperands1,
     .result = "f64[4] [nan, nan, -0, -0]",
     .source = "IEEE 754-2019 minimum"},
    {.operands = kOperands2, .result = "i32[2] [-1, -5]", .source = "NumPy 2.4, i32"},
};

}  // namespace

constinit const OpDef kMinimum{
    .name = "minimum",
    .formula = "a where a < b, else b",
    .summary = "The smaller of two tensors, element by element.",
    .prose = "A NaN in either operand gives NaN; -0 is smaller than +0.",
    .operands = kBinaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_number_binary>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .examples = kExamples,
};

Tensor minimum(const Tensor& a, const Tensor& b) { return apply(kMinimum, {a, b}, {}); }

}  // namespace capra
