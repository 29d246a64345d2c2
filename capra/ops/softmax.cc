// The record of softmax.
#include "capra/ops/softmax.h"

#include <limits>

#include "capra/ops/arithmetic.h"
#include "capra/ops/compare.h"
#include "capra/ops/exp.h"
#include "capra/ops/max.h"
#include "capra/ops/select.h"
#include "capra/ops/shape_rules.h"
#include "capra/ops/sum.h"

namespace capra {
namespace {

constexpr Operand kOperands[] = {{"x", "rank 1 or more"}};

Result<TensorType> infer(const TensorType& x, const SoftmaxAttrs& attrs) {
  CAPRA_TRY(require_float(x));
  CAPRA_TRY(require_rank(x, 1, "x"));
  CAPRA_TRY(normalize_axis(attrs.axis, x.shape.rank()));
  return x;
}

Tensor decompose(const Tensor& x, const SoftmaxAttrs& attrs) {
  const ReduceAttrs over{.axes = {attrs.axis}, .keep_dims = true};
  const Tensor wide = widened(x);
  const Tensor greatest = max(wide, over);
  // A row of -infinity would give -inf - -inf: its maximum is taken as 0 and its sum as 1.
  const Tensor lowest = scalar_like(wide, -std::numeric_limits<double>::infinity());
  const Tensor empty = compare(greatest, lowest, {.direction = "eq"});
  const Tensor zero = scalar_like(wide, 0.0);
  const Tensor reference = select(empty, zero, greatest);
  const Tensor shifted = wide - reference;
  const Tensor e = exp(shifted);
  const Tensor total = sum(e, over);
  const Tensor one = scalar_like(wide, 1.0);
  const Tensor divisor = select(empty, one, total);
  const Tensor result = e / divisor;
  return narrowed(result, x.dtype());
}

constexpr std::string_view kOperands0[] = {"f64[3] [1, 2, 3]"};
constexpr std::string_view kOperands1[] = {"f64[2, 2] [[0, 1], [0, 3]]"};
constexpr std::string_view kOperands2[] = {"f64[2, 2] [[1000, 1000], [-inf, 0]]"};
constexpr std::string_view kOperands3[] = {"f64[3, 2] [[-inf, -inf], [nan, 0], [inf, 0]]"};
constexpr std::string_view kOperands4[] = {"f64[1] [5]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0,
     .result = "f64[3] [0.09003057317038046, 0.24472847105479764, 0.6652409557748219]",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
    {.attrs = "axis = 0",
     .operands = kOperands1,
     .result = "f64[2, 2] [[0.5, 0.11920292202211756], [0.5, 0.8807970779778824]]",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
    {.attrs = "axis = -1",
     .operands = kOperands2,
     .result = "f64[2, 2] [[0.5, 0.5], [0, 1]]",
     .source = "limits"},
    {.operands = kOperands3,
     .result = "f64[3, 2] [[0, 0], [nan, nan], [nan, nan]]",
     .source = "definition: a row with nothing allowed is zeros; IEEE 754"},
    {.attrs = "axis = 0",
     .operands = kOperands4,
     .result = "f64[1] [1]",
     .source = "one element sums to 1"},
};

}  // namespace

constinit const OpDef kSoftmax{
    .name = "softmax",
    .formula = "exp(x - m) / sum(exp(x - m)), m = max(x)",
    .summary = "Exponentials along an axis, brought to a sum of 1.",
    .prose =
        "The maximum is subtracted first, so nothing overflows. A row of nothing but -infinity, in "
        "which nothing is allowed, is zeros; a NaN or +infinity makes its row NaN.",
    .operands = kOperands,
    .attrs = attrs_of<SoftmaxAttrs>(),
    .infer = erase_infer<infer>,
    .decompose = erase_decompose<decompose>,
    .accuracy = {.max_abs = 3e-7, .max_ulp = 4},
    .composite = {"capra.softmax", 1},
    .examples = kExamples,
};

Tensor softmax(const Tensor& x, int64_t axis) {
  return apply(kSoftmax, {x}, pack(SoftmaxAttrs{axis}));
}

}  // namespace capra
