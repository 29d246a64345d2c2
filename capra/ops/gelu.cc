// The record of gelu.
#include "capra/ops/gelu.h"

#include "capra/ops/arithmetic.h"
#include "capra/ops/erf.h"
#include "capra/ops/shape_rules.h"
#include "capra/ops/tanh.h"

namespace capra {
namespace {

Result<TensorType> infer(const TensorType& x, const GeluAttrs&) {
  CAPRA_TRY(require_float(x));
  return x;
}

Tensor exact_form(const Tensor& x) {
  const Tensor scaled = x * 0.7071067811865476;  // 1 / sqrt(2)
  const Tensor e = erf(scaled);
  const Tensor shifted = e + 1.0;
  const Tensor half = x * 0.5;
  return half * shifted;
}

Tensor tanh_form(const Tensor& x) {
  const Tensor square = x * x;
  const Tensor cube = square * x;
  const Tensor bent = cube * 0.044715;
  const Tensor sum = x + bent;
  const Tensor scaled = sum * 0.7978845608028654;  // sqrt(2 / pi)
  const Tensor t = tanh(scaled);
  const Tensor shifted = t + 1.0;
  const Tensor half = x * 0.5;
  return half * shifted;
}

Tensor decompose(const Tensor& x, const GeluAttrs& attrs) {
  const Tensor wide = widened(x);
  const Tensor result = attrs.approximate ? tanh_form(wide) : exact_form(wide);
  return narrowed(result, x.dtype());
}

constexpr std::string_view kOperands0[] = {"f64[5] [1, -1, 0.5, 2, -3]"};
constexpr std::string_view kOperands1[] = {"f64 1"};
constexpr std::string_view kOperands2[] = {"f64[5] [1, -1, 0.5, 2, -3]"};
constexpr std::string_view kOperands3[] = {"f64[4] [0, -0, inf, nan]"};
constexpr Example kExamples[] = {
    {.attrs = "approximate = false",
     .operands = kOperands0,
     .result = "f64[5] [0.8413447460685429, -0.15865525393145705, 0.34573123063700656, "
               "1.9544997361036416, -0.0040496940948902835]",
     .source = "mpmath 1.3, 50 digits, rounded to f64, x Phi(x)"},
    {.attrs = "approximate = false",
     .operands = kOperands1,
     .result = "f64 0.8413447460685429",
     .source = "tables of the normal distribution: Phi(1) = 0.8413447461"},
    {.attrs = "approximate = true",
     .operands = kOperands2,
     .result = "f64[5] [0.8411919906082767, -0.1588080093917233, 0.34571400982514394, "
               "1.954597694087775, -0.003637392081773019]",
     .source = "mpmath 1.3, 50 digits, rounded to f64, the tanh form"},
    {.attrs = "approximate = false",
     .operands = kOperands3,
     .result = "f64[4] [0, -0, inf, nan]",
     .source = "limits and IEEE 754"},
};

}  // namespace

constinit const OpDef kGelu{
    .name = "gelu",
    .formula = "0.5 x (1 + erf(x / sqrt(2)))",
    .summary = "Gaussian error linear unit.",
    .prose =
        "With `approximate`, the default, the tanh form 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 "
        "x^3))), which differs by up to 4.74e-4 (at |x| = 2.70). Checkpoints whose activation is "
        "called gelu mean the exact form. At -infinity a kernel gives the limit 0 and a decomposed "
        "form NaN.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<GeluAttrs>(),
    .infer = erase_infer<infer>,
    .decompose = erase_decompose<decompose>,
    .accuracy = {.max_abs = 4.5e-7,
                 .max_ulp = 1.5,
                 .note = "absolute; 1.5 ulp right of 12; the left tail within 1e-5 of its value"},
    .composite = {"skainet.gelu", 1},
    .examples = kExamples,
};

Tensor gelu(const Tensor& x, GeluAttrs attrs) { return apply(kGelu, {x}, pack(attrs)); }

}  // namespace capra
