// The record of silu.
#include "capra/ops/silu.h"

#include "capra/ops/arithmetic.h"
#include "capra/ops/shape_rules.h"
#include "capra/ops/sigmoid.h"

namespace capra {
namespace {

Tensor decompose(const Tensor& x, const NoAttrs&) {
  const Tensor wide = widened(x);
  const Tensor gate = sigmoid(wide);
  const Tensor result = wide * gate;
  return narrowed(result, x.dtype());
}

constexpr std::string_view kOperands0[] = {"f64[5] [1, -1, 0.5, 5, -30]"};
constexpr std::string_view kOperands1[] = {"f64[4] [0, -0, inf, nan]"};
constexpr std::string_view kOperands2[] = {"f64[2, 1] [[2], [-2]]"};
constexpr Example kExamples[] = {
    {.operands = kOperands0,
     .result = "f64[5] [0.7310585786300049, -0.2689414213699951, 0.3112296656009273, "
               "4.966535745378576, -2.8072868906517896e-12]",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
    {.operands = kOperands1, .result = "f64[4] [0, -0, inf, nan]", .source = "limits and IEEE 754"},
    {.operands = kOperands2,
     .result = "f64[2, 1] [[1.7615941559557649], [-0.23840584404423512]]",
     .source = "mpmath 1.3, 50 digits, rounded to f64"},
};

}  // namespace

constinit const OpDef kSilu{
    .name = "silu",
    .formula = "x / (1 + e^-x)",
    .summary = "x sigmoid(x), also called swish.",
    .prose = "At -infinity a kernel gives the limit 0 and a decomposed form NaN.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<NoAttrs>(),
    .infer = erase_infer<infer_float_unary>,
    .decompose = erase_decompose<decompose>,
    .accuracy = {.max_abs = 1e-45, .max_ulp = 4},
    .composite = {"capra.silu", 1},
    .examples = kExamples,
};

Tensor silu(const Tensor& x) { return apply(kSilu, {x}, {}); }

}  // namespace capra
