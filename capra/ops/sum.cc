// The record of sum.
#include "capra/ops/sum.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr std::string_view kOperands0[] = {"f64[2, 3] [[1, 2, 4], [-1, 0.5, 8]]"};
constexpr std::string_view kOperands1[] = {"f64[2, 3] [[1, 2, 4], [-1, 0.5, 8]]"};
constexpr std::string_view kOperands2[] = {"f64[2, 3] [[1, 2, 4], [-1, 0.5, 8]]"};
constexpr std::string_view kOperands3[] = {"f64[0, 2] []"};
constexpr std::string_view kOperands4[] = {"f64[2] [inf, -inf]"};
constexpr std::string_view kOperands5[] = {"i8[2] [100, 100]"};
constexpr Example kExamples[] = {
    {.attrs = "axes = [1]",
     .operands = kOperands0,
     .result = "f64[2] [7, 7.5]",
     .source = "NumPy 2.4, f64"},
    {.attrs = "axes = [-2], keep_dims = true",
     .operands = kOperands1,
     .result = "f64[1, 3] [[0, 2.5, 12]]",
     .source = "NumPy 2.4, f64"},
    {.operands = kOperands2, .result = "f64 14.5", .source = "NumPy 2.4, f64"},
    {.attrs = "axes = [0]",
     .operands = kOperands3,
     .result = "f64[2] [0, 0]",
     .source = "NumPy 2.4, f64"},
    {.attrs = "axes = [0]", .operands = kOperands4, .result = "f64 nan", .source = "IEEE 754"},
    {.attrs = "axes = [0]",
     .operands = kOperands5,
     .result = "i8 -56",
     .source = "two's complement"},
};

}  // namespace

constinit const OpDef kSum{
    .name = "sum",
    .formula = "sum of x over axes",
    .summary = "Sum over axes.",
    .prose =
        "Without axes every axis is reduced. The sum of nothing is 0. Integers wrap; bool is "
        "refused: convert it first.",
    .operands = kReduceOperands,
    .attrs = attrs_of<ReduceAttrs>(),
    .infer = erase_infer<infer_number_reduction>,
    .accuracy = {.max_ulp = 8, .note = kOfMagnitudes},
    .examples = kExamples,
};

Tensor sum(const Tensor& x, const ReduceAttrs& attrs) { return apply(kSum, {x}, pack(attrs)); }

}  // namespace capra
