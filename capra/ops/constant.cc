// The record of constant.
#include "capra/ops/constant.h"

namespace capra {
namespace {

Result<TensorType> infer(const ConstantAttrs& attrs) {
  if (!attrs.value) return fail("attribute-invalid", "value is missing");
  return attrs.value.type();
}

constexpr Example kExamples[] = {
    {.attrs = "value = f64 0.5", .result = "f64 0.5", .source = "the attribute itself"},
    {.attrs = "value = f64[3] [nan, -inf, -0]",
     .result = "f64[3] [nan, -inf, -0]",
     .source = "the attribute itself"},
    {.attrs = "value = i32[2, 0] [[], []]",
     .result = "i32[2, 0] [[], []]",
     .source = "the attribute itself"},
};

}  // namespace

constinit const OpDef kConstant{
    .name = "constant",
    .formula = "value",
    .summary = "Numbers known when the graph is made.",
    .prose = "Constants are printed in full with the graph; weights are parameters instead.",
    .attrs = attrs_of<ConstantAttrs>(),
    .infer = erase_infer<infer>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .examples = kExamples,
};

Tensor constant(const Context& context, Array value) {
  return apply(kConstant, {}, pack(ConstantAttrs{std::move(value)}), context);
}

}  // namespace capra
