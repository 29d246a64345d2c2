// The record of erfc.
#include "capra/ops/erfc.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr std::string_view kOperands0[] = {"f64[5] [0.5, 1, -2, 5, 10]"};
constexpr std::string_view kOperands1[] = {"f64[4] [0, inf, -inf, nan]"};
constexpr std::string_view kOperands2[] = {"f64[2, 0] [[], []]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0,
     .result = "f64[5] [0.4795001221869535, 0.15729920705028513, 1.9953222650189528, "
               "1.537459794428035e-12, 2.088487583762545e-45]",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
    {.operands = kOperands1, .result = "f64[4] [1, 0, 2, nan]", .source = "limits and IEEE 754"},
    {.operands = kOperands2,
     .result = "f64[2, 0] [[], []]",
     .source = "an empty tensor stays empty"},
};

}  // namespace

constinit const OpDef kErfc{
    .name = "erfc",
    .formula = "1 - erf(x)",
    .summary = "The complementary error function.",
    .prose = "Keeps its relative accuracy in the right tail, where 1 - erf(x) cancels to zero.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_float_unary>,
    .accuracy = {.max_abs = 1e-45, .max_ulp = 2},
    .examples = kExamples,
};

Tensor erfc(const Tensor& x) { return apply(kErfc, {x}, {}); }

}  // namespace capra
