// The record of gather.
#include "capra/ops/gather.h"

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr Operand kOperands[] = {{"table", "rank 1 or more"},
                                 {"indices", "an integer dtype, any shape"}};

Result<TensorType> infer(const TensorType& table, const TensorType& indices,
                         const GatherAttrs& attrs) {
  CAPRA_TRY(require_rank(table, 1, "table"));
  CAPRA_TRY(require_integer(indices, "indices"));
  CAPRA_ASSIGN(const int64_t axis, normalize_axis(attrs.axis, table.shape.rank()));
  const std::vector<Dim>& from = table.shape.dims();
  const std::vector<Dim>& picked = indices.shape.dims();
  std::vector<Dim> dims(from.begin(), from.begin() + axis);
  dims.insert(dims.end(), picked.begin(), picked.end());
  dims.insert(dims.end(), from.begin() + axis + 1, from.end());
  return sized_type(table.dtype, Shape(std::move(dims)));
}

constexpr std::string_view kOperands0[] = {"f64[3, 2] [[1, 2], [3, 4], [5, 6]]",
                                           "i32[3] [2, 0, 2]"};
constexpr std::string_view kOperands1[] = {"f64[3, 2] [[1, 2], [3, 4], [5, 6]]",
                                           "i64[2, 1] [[1], [0]]"};
constexpr std::string_view kOperands2[] = {"f64[3, 2] [[1, 2], [3, 4], [5, 6]]", "i32 1"};
constexpr std::string_view kOperands3[] = {"f64[3, 2] [[1, 2], [3, 4], [5, 6]]", "i32[0] []"};
constexpr Example kExamples[] = {
    {.attrs = "axis = 0",
     .operands = kOperands0,
     .result = "f64[3, 2] [[5, 6], [1, 2], [5, 6]]",
     .source = "NumPy 2.4, take"},
    {.attrs = "axis = -1",
     .operands = kOperands1,
     .result = "f64[3, 2, 1] [[[2], [1]], [[4], [3]], [[6], [5]]]",
     .source = "NumPy 2.4, take"},
    {.attrs = "axis = 0",
     .operands = kOperands2,
     .result = "f64[2] [3, 4]",
     .source = "NumPy 2.4, take"},
    {.attrs = "axis = 0",
     .operands = kOperands3,
     .result = "f64[0, 2] []",
     .source = "NumPy 2.4, take"},
};

}  // namespace

constinit const OpDef kGather{
    .name = "gather",
    .formula = "result[before, i, after] = table[before, indices[i], after]",
    .summary = "Slices of a table picked by indices along an axis.",
    .prose =
        "The axes of `indices` take the place of `axis`: a table [rows, width] and indices "
        "[tokens] give [tokens, width]. An index outside [0, extent) is refused at run time "
        "(`index-out-of-range`); it never wraps or clamps.",
    .operands = kOperands,
    .attrs = attrs_of<GatherAttrs>(),
    .infer = erase_infer<infer>,
    .accuracy = {.max_abs = 0, .max_ulp = 0},
    .examples = kExamples,
};

Tensor gather(const Tensor& table, const Tensor& indices, int64_t axis) {
  return apply(kGather, {table, indices}, pack(GatherAttrs{axis}));
}

}  // namespace capra
