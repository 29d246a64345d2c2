// The record of convert.
#include "capra/ops/convert.h"

#include "capra/base/half.h"
#include "capra/ops/shape_rules.h"

namespace capra {
namespace {

Result<TensorType> infer(const TensorType& x, const ConvertAttrs& attrs) {
  return sized_type(attrs.dtype, x.shape);
}

constexpr std::string_view kOperands0[] = {"f64[5] [1.75, -1.75, nan, 1125899906842624, -inf]"};
constexpr std::string_view kOperands1[] = {"i32[3] [256, -1, 300]"};
constexpr std::string_view kOperands2[] = {"f64[4] [0, -0, 0.5, nan]"};
constexpr std::string_view kOperands3[] = {"bool[2] [true, false]"};
constexpr std::string_view kOperands4[] = {"f64[3] [1.00390625, 3.3895313892515355e+38, 65280]"};
constexpr Example kExamples[] = {
    {.attrs = "dtype = i32",
     .operands = kOperands0,
     .result = "i32[5] [1, -1, 0, 2147483647, -2147483648]",
     .source = "definition: truncation and saturation"},
    {.attrs = "dtype = u8",
     .operands = kOperands1,
     .result = "u8[3] [0, 255, 44]",
     .source = "NumPy 2.4, astype"},
    {.attrs = "dtype = bool",
     .operands = kOperands2,
     .result = "bool[4] [false, false, true, true]",
     .source = "NumPy 2.4, astype"},
    {.attrs = "dtype = f64",
     .operands = kOperands3,
     .result = "f64[2] [1, 0]",
     .source = "NumPy 2.4, astype"},
    {.attrs = "dtype = bf16",
     .operands = kOperands4,
     .result = "bf16[3] [1, 3.38953e+38, 65280]",
     .source = "bfloat16: 8 bits of precision, ties to even"},
};

// A double between the same neighbours of any float of at most 24 bits as `value`: rounding it to
// such a float is rounding the integer, once.
double near_integer(bool negative, uint64_t magnitude) {
  constexpr uint64_t kExact = uint64_t{1} << 53;
  if (magnitude >= kExact) {
    const uint64_t low = magnitude & 0xfff;
    magnitude -= low;
    if (low != 0) magnitude |= 0x1000;  // to odd
  }
  const auto value = static_cast<double>(magnitude);
  return negative ? -value : value;
}

double integer_to_float(const Array& x, int64_t index, DType to) {
  const int64_t value = x.i64_at(index);
  const bool negative = x.dtype() != DType::U64 && value < 0;
  const auto bits = static_cast<uint64_t>(value);
  const uint64_t magnitude = negative ? 0 - bits : bits;
  if (to == DType::F64) {
    const auto nearest = static_cast<double>(magnitude);
    return negative ? -nearest : nearest;
  }
  return round_to(to, near_integer(negative, magnitude));
}

}  // namespace

constinit const OpDef kConvert{
    .name = "convert",
    .formula = "x in another dtype",
    .summary = "The elements in another dtype.",
    .prose =
        "To a float dtype: rounds once, to nearest even, and overflows to infinity. Float to "
        "integer: truncates toward zero and saturates, NaN gives 0. Integer to integer: wraps. To "
        "bool: true unless zero, NaN included. From bool: 0 or 1.",
    .operands = kUnaryOperands,
    .attrs = attrs_of<ConvertAttrs>(),
    .infer = erase_infer<infer>,
    .accuracy = {},
    .examples = kExamples,
};

Tensor convert(const Tensor& x, DType dtype) {
  return apply(kConvert, {x}, pack(ConvertAttrs{dtype}));
}

double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::F32:
      return static_cast<float>(value);
    case DType::F16:
      return f16_to_f32(f64_to_f16(value));
    case DType::BF16:
      return bf16_to_f32(f64_to_bf16(value));
    default:
      return value;
  }
}

void convert_element(const Array& x, int64_t index, DType to, Array& result) {
  if (is_float(to)) {
    result.set(index, is_float(x.dtype()) ? round_to(to, x.f64_at(index))
                                          : integer_to_float(x, index, to));
  } else if (is_float(x.dtype())) {
    result.set(index, x.f64_at(index));
  } else {
    result.set_i64(index, x.i64_at(index));
  }
}

}  // namespace capra
