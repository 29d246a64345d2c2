// The record of broadcast.
#include "capra/ops/broadcast.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

Result<TensorType> infer(const TensorType& x, const BroadcastAttrs& attrs) {
  const Result<Shape> both = broadcast_shapes(x.shape, attrs.shape);
  if (!both.ok() || *both != attrs.shape) {
    return fail("operand-shape", x.shape.text() + " does not broadcast to " + attrs.shape.text(),
                {}, "aligned to the right, each extent must be 1 or that of the result");
  }
  return sized_type(x.dtype, attrs.shape);
}

constexpr std::string_view kOperands0[] = {"f64[3] [1, 2, 3]"};
constexpr std::string_view kOperands1[] = {"f64[2, 1] [[1], [2]]"};
constexpr std::string_view kOperands2[] = {"f64 nan"};
constexpr std::string_view kOperands3[] = {"i32[2] [1, 2]"};
constexpr Example kExamples[] = {
    {.attrs = "shape = [2, 3]",
     .operands = kOperands0,
     .result = "f64[2, 3] [[1, 2, 3], [1, 2, 3]]",
     .source = "NumPy 2.4, broadcast_to"},
    {.attrs = "shape = [2, 2]",
     .operands = kOperands1,
     .result = "f64[2, 2] [[1, 1], [2, 2]]",
     .source = "NumPy 2.4, broadcast_to"},
    {.attrs = "shape = [3]",
     .operands = kOperands2,
     .result = "f64[3] [nan, nan, nan]",
     .source = "NumPy 2.4, broadcast_to"},
    {.attrs = "shape = [0, 2]",
     .operands = kOperands3,
     .result = "i32[0, 2] []",
     .source = "NumPy 2.4, broadcast_to"},
};

}  // namespace

constinit const OpDef kBroadcast{
    .name = "broadcast",
    .formula = "result[..., i] = x[..., i or 0]",
    .summary = "Extents of 1 repeated and leading axes added, up to a given shape.",
    .prose =
        "Aligned to the right, each extent of x is 1 or that of the result. Elementwise ops "
        "broadcast by themselves; this op is for the others.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<BroadcastAttrs>(),
    .infer = erase_infer<infer>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .examples = kExamples,
};

Tensor broadcast(const Tensor& x, Shape shape) {
  return apply(kBroadcast, {x}, pack(BroadcastAttrs{std::move(shape)}));
}

}  // namespace capra
