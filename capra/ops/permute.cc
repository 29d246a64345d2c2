// The record of permute.
#include "capra/ops/permute.h"

#include <fmt/format.h>

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

Result<TensorType> infer(const TensorType& x, const PermuteAttrs& attrs) {
  CAPRA_ASSIGN(const std::vector<int64_t> axes, normalize_axes(attrs.axes, x.shape.rank()));
  if (static_cast<int64_t>(axes.size()) != x.shape.rank()) {
    return fail("attribute-invalid",
                fmt::format("axes names {} axes, x has {}", axes.size(), x.shape.rank()));
  }
  std::vector<Dim> dims;
  dims.reserve(axes.size());
  for (const int64_t axis : axes) dims.push_back(x.shape[axis]);
  return TensorType{x.dtype, Shape(std::move(dims))};
}

constexpr std::string_view kOperands0[] = {"f64[2, 3] [[1, 2, 3], [4, 5, 6]]"};
constexpr std::string_view kOperands1[] = {"f64[1, 2, 3] [[[0, 1, 2], [3, 4, 5]]]"};
constexpr std::string_view kOperands2[] = {"f64[0, 2] []"};
constexpr std::string_view kOperands3[] = {"f64 3"};
constexpr Example kExamples[] = {
    {.attrs = "axes = [1, 0]",
     .operands = kOperands0,
     .result = "f64[3, 2] [[1, 4], [2, 5], [3, 6]]",
     .source = "NumPy 2.4, transpose"},
    {.attrs = "axes = [2, 0, 1]",
     .operands = kOperands1,
     .result = "f64[3, 1, 2] [[[0, 3]], [[1, 4]], [[2, 5]]]",
     .source = "NumPy 2.4, transpose"},
    {.attrs = "axes = [-1, 0]",
     .operands = kOperands2,
     .result = "f64[2, 0] [[], []]",
     .source = "NumPy 2.4, transpose"},
    {.attrs = "axes = []",
     .operands = kOperands3,
     .result = "f64 3",
     .source = "NumPy 2.4, transpose"},
};

}  // namespace

constinit const OpDef kPermute{
    .name = "permute",
    .formula = "result[i0, i1, ...] = x with axis axes[d] at position d",
    .summary = "The axes of a tensor in another order.",
    .prose =
        "`axes` names every axis once; negative ones count from the end. A matrix transpose is "
        "`axes = [1, 0]`.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<PermuteAttrs>(),
    .infer = erase_infer<infer>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .examples = kExamples,
};

Tensor permute(const Tensor& x, std::vector<int64_t> axes) {
  return apply(kPermute, {x}, pack(PermuteAttrs{std::move(axes)}));
}

}  // namespace capra
