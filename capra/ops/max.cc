// The record of max.
#include "capra/ops/max.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr std::string_view kOperands0[] = {"f64[2, 3] [[1, 2, 4], [-1, 0.5, 8]]"};
constexpr std::string_view kOperands1[] = {"f64[2, 3] [[1, 2, 4], [-1, 0.5, 8]]"};
constexpr std::string_view kOperands2[] = {"f64[3] [1, nan, 3]"};
constexpr std::string_view kOperands3[] = {"f64[2, 2] [[-0, 0], [-0, -0]]"};
constexpr std::string_view kOperands4[] = {"f64[0, 2] []"};
constexpr std::string_view kOperands5[] = {"i32[2] [-3, 5]"};
constexpr Example kExamples[] = {
    {.attrs = "axes = [1]",
     .operands = kOperands0,
     .result = "f64[2] [4, 8]",
     .source = "NumPy 2.4, f64"},
    {.attrs = "axes = [0], keep_dims = true",
     .operands = kOperands1,
     .result = "f64[1, 3] [[1, 2, 8]]",
     .source = "NumPy 2.4, f64"},
    {.operands = kOperands2, .result = "f64 nan", .source = "NumPy 2.4, f64"},
    {.attrs = "axes = [-1]",
     .operands = kOperands3,
     .result = "f64[2] [0, -0]",
     .source = "IEEE 754-2019 maximum"},
    {.attrs = "axes = [0]",
     .operands = kOperands4,
     .result = "f64[2] [-inf, -inf]",
     .source = "the neutral element"},
    {.attrs = "axes = [0]", .operands = kOperands5, .result = "i32 5", .source = "NumPy 2.4, i32"},
};

}  // namespace

constinit const OpDef kMax{
    .name = "max",
    .formula = "max of x over axes",
    .summary = "Maximum over axes.",
    .prose =
        "Without axes every axis is reduced. A NaN among the elements gives NaN; +0 is greater "
        "than -0. The maximum of nothing is -infinity, or the least integer.",
    .operands = kReduceOperands,
    .attrs = attrs_of<ReduceAttrs>(),
    .infer = erase_infer<infer_number_reduction>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .examples = kExamples,
};

Tensor max(const Tensor& x, const ReduceAttrs& attrs) { return apply(kMax, {x}, pack(attrs)); }

}  // namespace capra
