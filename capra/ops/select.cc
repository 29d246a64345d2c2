// The record of select.
#include "capra/ops/select.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr Operand kOperands[] = {{"condition", "bool; shapes broadcast"},
                                 {"a", "taken where the condition holds"},
                                 {"b", "dtype of a; taken elsewhere"}};

Result<TensorType> infer(const TensorType& condition, const TensorType& a, const TensorType& b,
                         const NoAttrs&) {
  CAPRA_TRY(require_dtype(condition, DType::Bool, "condition"));
  CAPRA_ASSIGN(const TensorType values, broadcast_type(a, b));
  CAPRA_ASSIGN(Shape shape, broadcast_shapes(condition.shape, values.shape));
  return sized_type(a.dtype, std::move(shape));
}

constexpr std::string_view kOperands0[] = {"bool[3] [true, false, true]", "f64[3] [1, 2, 3]",
                                           "f64[3] [-1, -2, -3]"};
constexpr std::string_view kOperands1[] = {"bool[2] [true, false]", "f64[2] [1, nan]",
                                           "f64[2] [nan, 4]"};
constexpr std::string_view kOperands2[] = {"bool[2, 1] [[true], [false]]", "i32[2] [1, 2]",
                                           "i32 0"};
constexpr Example kExamples[] = {
    {.operands = kOperands0, .result = "f64[3] [1, -2, 3]", .source = "NumPy 2.4, where"},
    {.operands = kOperands1, .result = "f64[2] [1, 4]", .source = "NumPy 2.4, where"},
    {.operands = kOperands2, .result = "i32[2, 2] [[1, 2], [0, 0]]", .source = "NumPy 2.4, where"},
};

}  // namespace

constinit const OpDef kSelect{
    .name = "select",
    .formula = "condition ? a : b",
    .summary = "Elements of a where the condition holds, else of b.",
    .prose =
        "All three shapes broadcast like NumPy. Bits are copied: a value that is not chosen has no "
        "effect, NaN or not.",
    .operands = kOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .examples = kExamples,
};

Tensor select(const Tensor& condition, const Tensor& a, const Tensor& b) {
  return apply(kSelect, {condition, a, b}, {});
}

}  // namespace capra
