// The record of slice.
#include "capra/ops/slice.h"

#include <fmt/format.h>

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

Status check_counts(const TensorType& x, const SliceAttrs& attrs) {
  const auto rank = static_cast<size_t>(x.shape.rank());
  const bool strides_fit = attrs.strides.empty() || attrs.strides.size() == rank;
  if (attrs.starts.size() == rank && attrs.limits.dims().size() == rank && strides_fit) return {};
  return fail("attribute-invalid",
              fmt::format("{} starts, {} limits and {} strides for a tensor of rank {}",
                          attrs.starts.size(), attrs.limits.rank(), attrs.strides.size(), rank),
              {}, "give one of each an axis; strides may be empty");
}

Result<Dim> sliced_extent(int64_t axis, const Dim& extent, int64_t start, const Dim& limit,
                          int64_t stride) {
  if (start < 0 || stride < 1) {
    return fail("attribute-invalid",
                fmt::format("axis {} starts at {} with step {}", axis, start, stride), {},
                "starts are at least 0 and strides at least 1");
  }
  if (!limit.is_static()) {
    if (start == 0 && stride == 1) return limit;
    return fail(
        "symbolic-dim",
        fmt::format("axis {} runs from {} to {} with step {}", axis, start, limit.text(), stride),
        {}, "an axis with a symbolic limit starts at 0 with step 1");
  }
  if (limit.size() < start || (extent.is_static() && limit.size() > extent.size())) {
    return fail("attribute-invalid", fmt::format("axis {} of extent {} is cut from {} to {}", axis,
                                                 extent.text(), start, limit.text()));
  }
  // Rounds up without overflow.
  const int64_t span = limit.size() - start;
  return Dim(span / stride + (span % stride != 0 ? 1 : 0));
}

Result<TensorType> infer(const TensorType& x, const SliceAttrs& attrs) {
  CAPRA_TRY(check_counts(x, attrs));
  std::vector<Dim> dims;
  for (int64_t axis = 0; axis < x.shape.rank(); ++axis) {
    const auto i = static_cast<size_t>(axis);
    const int64_t stride = attrs.strides.empty() ? 1 : attrs.strides[i];
    CAPRA_ASSIGN(Dim dim,
                 sliced_extent(axis, x.shape[axis], attrs.starts[i], attrs.limits[axis], stride));
    dims.push_back(std::move(dim));
  }
  return TensorType{x.dtype, Shape(std::move(dims))};
}

constexpr std::string_view kOperands0[] = {
    "f64[3, 4] [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]"};
constexpr std::string_view kOperands1[] = {
    "f64[3, 4] [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]"};
constexpr std::string_view kOperands2[] = {"f64[3] [1, 2, 3]"};
constexpr std::string_view kOperands3[] = {"i32 7"};
constexpr Example kExamples[] = {
    {.attrs = "starts = [1, 0], limits = [3, 2]",
     .operands = kOperands0,
     .result = "f64[2, 2] [[4, 5], [8, 9]]",
     .source = "NumPy 2.4 indexing"},
    {.attrs = "starts = [0, 1], limits = [3, 4], strides = [2, 2]",
     .operands = kOperands1,
     .result = "f64[2, 2] [[1, 3], [9, 11]]",
     .source = "NumPy 2.4 indexing"},
    {.attrs = "starts = [2], limits = [2]",
     .operands = kOperands2,
     .result = "f64[0] []",
     .source = "NumPy 2.4 indexing"},
    {.attrs = "starts = [], limits = []",
     .operands = kOperands3,
     .result = "i32 7",
     .source = "NumPy 2.4 indexing"},
    {.attrs = "starts = [1, 0], limits = [3, 4]",
     .operands = kOperands1,
     .result = "f64[2, 4] [[4, 5, 6, 7], [8, 9, 10, 11]]",
     .source = "NumPy 2.4, basic slicing"},
};

}  // namespace

constinit const OpDef kSlice{
    .name = "slice",
    .formula = "result[i, ...] = x[starts + i strides, ...]",
    .summary = "A box with steps out of a tensor.",
    .prose =
        "Indices are not negative and steps are at least 1. A limit may be a symbol, which then is "
        "the extent of the result: rows 0 to `tokens` of a table of positions. Such an axis starts "
        "at 0 with step 1. Whether a limit fits an extent that is known only at run time is "
        "checked there (`slice-out-of-range`).",
    .operands = kUnaryOperands,
    .attrs = attrs_of<SliceAttrs>(),
    .infer = erase_infer<infer>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .examples = kExamples,
};

Tensor slice(const Tensor& x, const SliceAttrs& attrs) { return apply(kSlice, {x}, pack(attrs)); }

}  // namespace capra
