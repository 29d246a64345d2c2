// The record of compare.
#include "capra/ops/compare.h"

#include <algorithm>
#include <array>

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr std::array<std::string_view, 6> kDirections = {"lt", "le", "gt", "ge", "eq", "ne"};

Result<TensorType> infer(const TensorType& a, const TensorType& b, const CompareAttrs& attrs) {
  if (std::ranges::find(kDirections, attrs.direction) == kDirections.end()) {
    return fail("attribute-invalid", "direction is \"" + attrs.direction + "\"", {},
                "use lt, le, gt, ge, eq or ne");
  }
  if (a.dtype == DType::Bool && attrs.direction != "eq" && attrs.direction != "ne") {
    return fail("operand-dtype", "bool has no order", {}, "use direction eq or ne");
  }
  CAPRA_ASSIGN(const TensorType both, broadcast_type(a, b));
  return sized_type(DType::Bool, both.shape);
}

constexpr std::string_view kOperands0[] = {"f64[3] [1, 2, 3]", "f64[3] [2, 2, 2]"};
constexpr std::string_view kOperands1[] = {"i32[2, 1] [[1], [3]]", "i32[3] [1, 2, 3]"};
constexpr std::string_view kOperands2[] = {"f64[3] [nan, 0, inf]", "f64[3] [nan, -0, inf]"};
constexpr std::string_view kOperands3[] = {"f64[2] [nan, -inf]", "f64[2] [nan, -inf]"};
constexpr Example kExamples[] = {
    {.attrs = "direction = \"lt\"",
     .operands = kOperands0,
     .result = "bool[3] [true, false, false]",
     .source = "NumPy 2.4, f64"},
    {.attrs = "direction = \"ge\"",
     .operands = kOperands1,
     .result = "bool[2, 3] [[true, false, false], [true, true, true]]",
     .source = "NumPy 2.4, i32"},
    {.attrs = "direction = \"eq\"",
     .operands = kOperands2,
     .result = "bool[3] [false, true, true]",
     .source = "IEEE 754"},
    {.attrs = "direction = \"ne\"",
     .operands = kOperands3,
     .result = "bool[2] [true, false]",
     .source = "IEEE 754"},
};

}  // namespace

constinit const OpDef kCompare{
    .name = "compare",
    .formula = "a direction b",
    .summary = "An order relation of two tensors as bool, element by element.",
    .prose =
        "Shapes broadcast like NumPy; dtypes must be equal. A NaN is unequal to everything and "
        "ordered with nothing; -0 equals +0. Bool takes eq and ne only.",
    .operands = kBinaryOperands,
    .attrs = attrs_of<CompareAttrs>(),
    .infer = erase_infer<infer>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .examples = kExamples,
};

Tensor compare(const Tensor& a, const Tensor& b, const CompareAttrs& attrs) {
  return apply(kCompare, {a, b}, pack(attrs));
}

}  // namespace capra
