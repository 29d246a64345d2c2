// The record of reshape.
#include "capra/ops/reshape.h"

#include <fmt/format.h>
#include <algorithm>

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

struct Extents {
  std::vector<std::string> symbols;  // sorted
  std::vector<Dim> sizes;
};

Extents extents_of(const Shape& shape) {
  Extents extents;
  for (const Dim& dim : shape.dims()) {
    if (dim.is_static()) {
      extents.sizes.push_back(dim);
    } else {
      extents.symbols.push_back(dim.symbol());
    }
  }
  std::ranges::sort(extents.symbols);
  return extents;
}

Result<TensorType> infer(const TensorType& x, const ReshapeAttrs& attrs) {
  CAPRA_ASSIGN(TensorType result, sized_type(x.dtype, attrs.shape));
  const Extents from = extents_of(x.shape);
  const Extents to = extents_of(attrs.shape);
  if (from.symbols != to.symbols) {
    return fail("symbolic-dim",
                fmt::format("{} cannot be shown to have as many elements as {}", attrs.shape.text(),
                            x.shape.text()),
                {}, "keep each symbolic dim as a dim of its own");
  }
  if (Shape(from.sizes).elements() != Shape(to.sizes).elements()) {
    return fail("operand-shape", fmt::format("{} and {} have different numbers of elements",
                                             x.shape.text(), attrs.shape.text()));
  }
  return result;
}

constexpr std::string_view kOperands0[] = {"f64[2, 3] [[1, 2, 3], [4, 5, 6]]"};
constexpr std::string_view kOperands1[] = {"f64[1, 1] [[5]]"};
constexpr std::string_view kOperands2[] = {"f64[3, 0] [[], [], []]"};
constexpr std::string_view kOperands3[] = {"i32[4] [1, 2, 3, 4]"};
constexpr Example kExamples[] = {
    {.attrs = "shape = [3, 2]",
     .operands = kOperands0,
     .result = "f64[3, 2] [[1, 2], [3, 4], [5, 6]]",
     .source = "NumPy 2.4, reshape"},
    {.attrs = "shape = []",
     .operands = kOperands1,
     .result = "f64 5",
     .source = "NumPy 2.4, reshape"},
    {.attrs = "shape = [0, 7]",
     .operands = kOperands2,
     .result = "f64[0, 7] []",
     .source = "NumPy 2.4, reshape"},
    {.attrs = "shape = [2, 1, 2]",
     .operands = kOperands3,
     .result = "i32[2, 1, 2] [[[1, 2]], [[3, 4]]]",
     .source = "NumPy 2.4, reshape"},
};

}  // namespace

constinit const OpDef kReshape{
    .name = "reshape",
    .formula = "the elements of x in row-major order",
    .summary = "The same elements under another shape.",
    .prose =
        "The symbols of the new shape are those of the old one, each as often, and the products of "
        "the static extents are equal; a shape that needs arithmetic on symbols is refused.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<ReshapeAttrs>(),
    .infer = erase_infer<infer>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .examples = kExamples,
};

Tensor reshape(const Tensor& x, Shape shape) {
  return apply(kReshape, {x}, pack(ReshapeAttrs{std::move(shape)}));
}

}  // namespace capra
