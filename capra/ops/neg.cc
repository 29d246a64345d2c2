// The record of neg.
#include "capra/ops/neg.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

Result<TensorType> infer(const TensorType& x, const NoAttrs&) {
  CAPRA_TRY(require_number(x));
  if (is_integer(x.dtype) && !is_signed_integer(x.dtype)) {
    return fail("operand-dtype", "x is " + std::string(dtype_name(x.dtype)) + ", which has no sign",
                {}, "convert it to a signed dtype first");
  }
  return x;
}

constexpr std::string_view kOperands0[] = {"f64[5] [1.5, -2, 0, -0, inf]"};
constexpr std::string_view kOperands1[] = {"i32 3"};
constexpr std::string_view kOperands2[] = {"i8[2] [-128, 127]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0, .result = "f64[5] [-1.5, 2, -0, 0, -inf]", .source = "IEEE 754"},
    {.operands = kOperands1, .result = "i32 -3", .source = "two's complement"},
    {.operands = kOperands2, .result = "i8[2] [-128, -127]", .source = "two's complement"},
};

}  // namespace

constinit const OpDef kNeg{
    .name = "neg",
    .formula = "-x",
    .summary = "The operand with the other sign.",
    .prose =
        "Flips the sign bit of a float, of NaN and zero too. Floats and signed integers; the least "
        "integer wraps to itself.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .examples = kExamples,
};

Tensor neg(const Tensor& x) { return apply(kNeg, {x}, {}); }

}  // namespace capra
