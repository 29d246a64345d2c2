// The record of concat.
#include "capra/ops/concat.h"

#include <fmt/format.h>

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr Operand kOperands[] = {
    {"parts", "at least one; equal dtypes, equal extents but along axis", Arity::Variadic}};

Result<TensorType> infer(TypeRefs parts, const ConcatAttrs& attrs) {
  if (parts.empty()) return fail("operand-count", "no parts were given");
  const TensorType& first = *parts[0];
  CAPRA_TRY(require_rank(first, 1, "parts[0]"));
  CAPRA_ASSIGN(const int64_t axis, normalize_axis(attrs.axis, first.shape.rank()));
  Shape shape = first.shape;
  for (size_t i = 1; i < parts.size(); ++i) {
    const TensorType& part = *parts[i];
    CAPRA_TRY(require_same_dtype(first, "parts[0]", part, fmt::format("parts[{}]", i)));
    Shape aligned = part.shape;
    if (aligned.rank() == shape.rank()) aligned[axis] = shape[axis];
    if (aligned != shape) {
      return fail("operand-shape", fmt::format("parts {} and {} differ outside axis {}",
                                               first.shape.text(), part.shape.text(), axis));
    }
    if (!shape[axis].is_static() || !part.shape[axis].is_static()) {
      return fail("symbolic-dim",
                  fmt::format("extents {} and {} along axis {} have no named sum",
                              shape[axis].text(), part.shape[axis].text(), axis),
                  {}, "join along an axis whose extents are numbers");
    }
    int64_t extent = 0;
    if (__builtin_add_overflow(shape[axis].size(), part.shape[axis].size(), &extent)) {
      return fail("operand-shape", "the joined axis is too long");
    }
    shape[axis] = Dim(extent);
  }
  return sized_type(first.dtype, std::move(shape));
}

constexpr std::string_view kOperands0[] = {"f64[2] [1, 2]", "f64[1] [3]"};
constexpr std::string_view kOperands1[] = {"f64[2, 1] [[1], [2]]", "f64[2, 2] [[3, 4], [5, 6]]"};
constexpr std::string_view kOperands2[] = {"i32[0] []", "i32[1] [7]", "i32[2] [8, 9]"};
constexpr std::string_view kOperands3[] = {"f64[1, 2] [[1, 2]]", "f64[2, 2] [[3, 4], [5, 6]]"};
constexpr Example kExamples[] = {
    {.attrs = "axis = 0",
     .operands = kOperands0,
     .result = "f64[3] [1, 2, 3]",
     .source = "NumPy 2.4, concatenate"},
    {.attrs = "axis = -1",
     .operands = kOperands1,
     .result = "f64[2, 3] [[1, 3, 4], [2, 5, 6]]",
     .source = "NumPy 2.4, concatenate"},
    {.attrs = "axis = 0",
     .operands = kOperands2,
     .result = "i32[3] [7, 8, 9]",
     .source = "NumPy 2.4, concatenate"},
    {.attrs = "axis = 0",
     .operands = kOperands3,
     .result = "f64[3, 2] [[1, 2], [3, 4], [5, 6]]",
     .source = "NumPy 2.4, concatenate"},
};

}  // namespace

constinit const OpDef kConcat{
    .name = "concat",
    .formula = "parts one after the other along axis",
    .summary = "Tensors joined along an axis.",
    .prose =
        "All parts have the same dtype and the same extents but along `axis`. Several parts of "
        "symbolic extent along `axis` are refused, as their sum has no name.",
    .operands = kOperands,
    .attrs = attrs_of<ConcatAttrs>(),
    .infer = erase_infer<infer>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .examples = kExamples,
};

Tensor concat(std::span<const Tensor> parts, int64_t axis) {
  return apply(kConcat, parts, pack(ConcatAttrs{axis}));
}

}  // namespace capra
