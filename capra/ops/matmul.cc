// The record of matmul.
#include "capra/ops/matmul.h"

#include <fmt/format.h>

#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

constexpr Operand kOperands[] = {{"a", "[..., m, k], or [..., k, m] if transpose_a"},
                                 {"b", "dtype of a; [..., k, n], or [..., n, k] if transpose_b"}};

constexpr std::string_view kParallelDims[] = {"rows"};

Shape leading(const Shape& shape) {
  return Shape(std::vector<Dim>(shape.dims().begin(), shape.dims().end() - 2));
}

Result<TensorType> infer(const TensorType& a, const TensorType& b, const MatmulAttrs& attrs) {
  CAPRA_TRY(require_number(a, "a"));
  CAPRA_TRY(require_same_dtype(a, "a", b, "b"));
  CAPRA_TRY(require_rank(a, 2, "a"));
  CAPRA_TRY(require_rank(b, 2, "b"));
  if (!is_float(a.dtype) && attrs.factor != 1.0) {
    return fail("attribute-invalid", "factor of an integer product is not 1");
  }
  const int64_t last_a = a.shape.rank() - 1;
  const int64_t last_b = b.shape.rank() - 1;
  const Dim& m = a.shape[attrs.transpose_a ? last_a : last_a - 1];
  const Dim& k_a = a.shape[attrs.transpose_a ? last_a - 1 : last_a];
  const Dim& k_b = b.shape[attrs.transpose_b ? last_b : last_b - 1];
  const Dim& n = b.shape[attrs.transpose_b ? last_b - 1 : last_b];
  if (k_a != k_b) {
    return fail("operand-shape",
                fmt::format("inner extents differ: a {} has {}, b {} has {}", a.shape.text(),
                            k_a.text(), b.shape.text(), k_b.text()),
                {}, "see transpose_a and transpose_b");
  }
  CAPRA_ASSIGN(const Shape batch, broadcast_shapes(leading(a.shape), leading(b.shape)));
  std::vector<Dim> dims = batch.dims();
  dims.push_back(m);
  dims.push_back(n);
  return sized_type(a.dtype, Shape(std::move(dims)));
}

constexpr std::string_view kOperands0[] = {"f64[2, 3] [[1, 2, 3], [4, 5, 6]]",
                                           "f64[3, 2] [[1, 0], [0.5, -1], [2, 1]]"};
constexpr std::string_view kOperands1[] = {"f64[2, 3] [[1, 2, 3], [4, 5, 6]]",
                                           "f64[2, 3] [[1, 0.5, 2], [0, -1, 1]]"};
constexpr std::string_view kOperands2[] = {
    "f64[2, 2, 3] [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]]",
    "f64[3, 1] [[1], [2], [-1]]"};
constexpr std::string_view kOperands3[] = {"f64[2, 0] [[], []]", "f64[0, 2] []"};
constexpr std::string_view kOperands4[] = {"i32[2, 2] [[1, 2], [3, 4]]",
                                           "i32[2, 2] [[1, 0], [0, 1]]"};
constexpr std::string_view kOperands5[] = {"f64[1, 3] [[1, 2, 3]]", "f64[2, 1] [[4], [-5]]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0, .result = "f64[2, 2] [[8, 1], [18.5, 1]]", .source = "NumPy 2.4, f64"},
    {.attrs = "transpose_b = true, factor = 0.5",
     .operands = kOperands1,
     .result = "f64[2, 2] [[4, 0.5], [9.25, 0.5]]",
     .source = "NumPy 2.4, f64"},
    {.operands = kOperands2,
     .result = "f64[2, 2, 1] [[[0], [6]], [[12], [18]]]",
     .source = "NumPy 2.4, f64, leading axes broadcast"},
    {.operands = kOperands3,
     .result = "f64[2, 2] [[0, 0], [0, 0]]",
     .source = "NumPy 2.4, f64, an empty sum is 0"},
    {.attrs = "transpose_a = true",
     .operands = kOperands4,
     .result = "i32[2, 2] [[1, 3], [2, 4]]",
     .source = "NumPy 2.4, i32"},
    {.attrs = "transpose_a = true, transpose_b = true",
     .operands = kOperands5,
     .result = "f64[3, 2] [[4, -5], [8, -10], [12, -15]]",
     .source = "NumPy 2.4, f64, an outer product"},
};

}  // namespace

constinit const OpDef kMatmul{
    .name = "matmul",
    .formula = "factor sum over k of a[..., i, k] b[..., k, j]",
    .summary = "Matrix product of the last two axes; leading axes broadcast.",
    .prose =
        "Both operands have rank 2 or more. `transpose_a` and `transpose_b` read the operand with "
        "its last two axes swapped; they never change the order of additions. `factor` multiplies "
        "the finished product as a rounded step of its own and must be 1 for integers. Integers "
        "wrap. An inner extent of 0 gives +0.",
    .operands = kOperands,
    .attrs = attrs_of<MatmulAttrs>(),
    .infer = erase_infer<infer>,
    .accuracy = {.max_ulp = 16, .note = kOfMagnitudes},
    .parallel_dims = kParallelDims,
    .examples = kExamples,
};

Tensor matmul(const Tensor& a, const Tensor& b, MatmulAttrs attrs) {
  return apply(kMatmul, {a, b}, pack(attrs));
}

}  // namespace capra
