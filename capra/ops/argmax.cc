// The record of argmax.
#include "capra/ops/argmax.h"

#include "capra/ops/reduction.h"
#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

Result<TensorType> infer(const TensorType& x, const ArgmaxAttrs& attrs) {
  CAPRA_TRY(require_number(x));
  CAPRA_TRY(require_rank(x, 1, "x"));
  CAPRA_ASSIGN(const int64_t axis, normalize_axis(attrs.axis, x.shape.rank()));
  if (x.shape[axis] == Dim(0)) {
    return fail("operand-shape", "the searched axis of " + x.shape.text() + " is empty");
  }
  const int64_t reduced[] = {axis};
  return TensorType{DType::I64, reduced_shape(x.shape, reduced, attrs.keep_dims)};
}

constexpr std::string_view kOperands0[] = {"f64[2, 3] [[1, 2, 4], [-1, 0.5, 8]]"};
constexpr std::string_view kOperands1[] = {"f64[2, 3] [[1, 2, 4], [-1, 0.5, 8]]"};
constexpr std::string_view kOperands2[] = {"f64[3] [2, 7, 7]"};
constexpr std::string_view kOperands3[] = {"f64[2, 3] [[1, nan, inf], [-0, 0, -1]]"};
constexpr std::string_view kOperands4[] = {"i32[2] [-3, -1]"};
constexpr Example kExamples[] = {
    {.attrs = "axis = 1",
     .operands = kOperands0,
     .result = "i64[2] [2, 2]",
     .source = "NumPy 2.4, argmax"},
    {.attrs = "axis = 0, keep_dims = true",
     .operands = kOperands1,
     .result = "i64[1, 3] [[0, 0, 1]]",
     .source = "NumPy 2.4, argmax"},
    {.operands = kOperands2, .result = "i64 1", .source = "NumPy 2.4, argmax"},
    {.attrs = "axis = -1",
     .operands = kOperands3,
     .result = "i64[2] [1, 0]",
     .source = "NumPy 2.4, argmax"},
    {.attrs = "axis = 0", .operands = kOperands4, .result = "i64 1", .source = "NumPy 2.4, argmax"},
};

}  // namespace

constinit const OpDef kArgmax{
    .name = "argmax",
    .formula = "argmax of x along axis",
    .summary = "Index of the greatest element along an axis, as i64.",
    .prose =
        "Of equal elements the lowest index; a NaN counts as the greatest, so the index of the "
        "first NaN if there is one; -0 and +0 are equal. An axis of extent 0 is refused, at "
        "run time where it is known only then.",
    .operands = kReduceOperands,
    .attrs = attrs_of<ArgmaxAttrs>(),
    .infer = erase_infer<infer>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .examples = kExamples,
};

Tensor argmax(const Tensor& x, ArgmaxAttrs attrs) { return apply(kArgmax, {x}, pack(attrs)); }

}  // namespace capra
