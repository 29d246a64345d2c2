// The record of logical_not.
#include "capra/ops/logical_not.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

Result<TensorType> infer(const TensorType& x, const NoAttrs&) {
  CAPRA_TRY(require_dtype(x, DType::Bool, "x"));
  return x;
}

constexpr std::string_view kOperands0[] = {"bool[2] [true, false]"};
constexpr std::string_view kOperands1[] = {"bool false"};
constexpr std::string_view kOperands2[] = {"bool[0] []"};
constexpr Example kExamples[] = {
    {.operands = kOperands0, .result = "bool[2] [false, true]", .source = "truth table"},
    {.operands = kOperands1, .result = "bool true", .source = "truth table"},
    {.operands = kOperands2, .result = "bool[0] []", .source = "an empty tensor stays empty"},
};

}  // namespace

constinit const OpDef kLogicalNot{
    .name = "logical_not",
    .formula = "not x",
    .summary = "True where the operand is false.",
    .prose = "The operand is bool.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .examples = kExamples,
};

Tensor logical_not(const Tensor& x) { return apply(kLogicalNot, {x}, {}); }

}  // namespace capra
