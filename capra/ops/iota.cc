// The record of iota.
#include "capra/ops/iota.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

Result<TensorType> infer(const IotaAttrs& attrs) {
  if (attrs.dtype == DType::Bool) {
    return fail("attribute-invalid", "dtype bool cannot count", {}, "use a float or integer dtype");
  }
  CAPRA_TRY(normalize_axis(attrs.axis, attrs.shape.rank()));
  return sized_type(attrs.dtype, attrs.shape);
}

constexpr Example kExamples[] = {
    {.attrs = "dtype = i32, shape = [4]",
     .result = "i32[4] [0, 1, 2, 3]",
     .source = "NumPy 2.4, arange"},
    {.attrs = "dtype = f64, shape = [2, 3], axis = 0",
     .result = "f64[2, 3] [[0, 0, 0], [1, 1, 1]]",
     .source = "NumPy 2.4, arange and broadcast_to"},
    {.attrs = "dtype = i64, shape = [2, 3], axis = -1",
     .result = "i64[2, 3] [[0, 1, 2], [0, 1, 2]]",
     .source = "NumPy 2.4, arange and broadcast_to"},
    {.attrs = "dtype = i64, shape = [0]", .result = "i64[0] []", .source = "NumPy 2.4, arange"},
};

}  // namespace

constinit const OpDef kIota{
    .name = "iota",
    .formula = "result[..., i, ...] = i",
    .summary = "0, 1, 2, ... along an axis.",
    .prose = "A value the dtype cannot hold wraps (integers) or rounds (floats).",
    .attrs = attrs_of<IotaAttrs>(),
    .infer = erase_infer<infer>,
    .accuracy = {},
    .examples = kExamples,
};

Tensor iota(const Context& context, const IotaAttrs& attrs) {
  return apply(kIota, {}, pack(attrs), context);
}

}  // namespace capra
