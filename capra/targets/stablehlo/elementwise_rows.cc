// Rows of the elementwise ops. Operands are brought to the shape of the result first.
#include <cmath>
#include <limits>

#include "capra/ops/abs.h"
#include "capra/ops/add.h"
#include "capra/ops/compare.h"
#include "capra/ops/convert.h"
#include "capra/ops/div.h"
#include "capra/ops/erf.h"
#include "capra/ops/erfc.h"
#include "capra/ops/exp.h"
#include "capra/ops/log.h"
#include "capra/ops/logical_and.h"
#include "capra/ops/logical_not.h"
#include "capra/ops/logical_or.h"
#include "capra/ops/maximum.h"
#include "capra/ops/minimum.h"
#include "capra/ops/mul.h"
#include "capra/ops/neg.h"
#include "capra/ops/select.h"
#include "capra/ops/sqrt.h"
#include "capra/ops/sub.h"
#include "capra/ops/tanh.h"
#include "capra/targets/stablehlo/rows.h"

namespace capra::stablehlo {
namespace {

constexpr std::string_view kAddition = "stablehlo.add";
constexpr std::string_view kProduct = "stablehlo.multiply";
constexpr std::string_view kGreater = "stablehlo.maximum";
constexpr std::string_view kLess = "stablehlo.minimum";
constexpr std::string_view kConjunction = "stablehlo.and";
constexpr std::string_view kDisjunction = "stablehlo.or";
constexpr std::string_view kNegation = "stablehlo.not";
constexpr std::string_view kExponential = "stablehlo.exponential";
constexpr std::string_view kLogarithm = "stablehlo.log";
constexpr std::string_view kRoot = "stablehlo.sqrt";
constexpr std::string_view kTangent = "stablehlo.tanh";
constexpr std::string_view kErrorFunction = "chlo.erf";
constexpr std::string_view kComplement = "chlo.erfc";
constexpr std::string_view kOpposite = "stablehlo.negate";

template <const std::string_view& kName>
ValueId lower_unary(FunctionBuilder& builder, const Call& call) {
  return builder.apply(kName, {call.operands[0]});
}

// f16 and bf16 are computed in f32 and rounded once: a compiler's own polynomial need not be.
template <const std::string_view& kName>
ValueId lower_widened(FunctionBuilder& builder, const Call& call) {
  const DType dtype = call.type.dtype;
  const ValueId wide = builder.convert(call.operands[0], is_half(dtype) ? DType::F32 : dtype);
  const ValueId result = builder.apply(kName, {wide});
  return builder.convert(result, dtype);
}

template <const std::string_view& kName>
ValueId lower_binary(FunctionBuilder& builder, const Call& call) {
  const ValueId a = builder.broadcast(call.operands[0], call.type.shape);
  const ValueId b = builder.broadcast(call.operands[1], call.type.shape);
  return builder.apply(kName, {a, b});
}

// A compiler may fold x - x of integers to a constant, which has no type where a dim is dynamic:
// the zeros are written here.
ValueId lower_sub(FunctionBuilder& builder, const Call& call) {
  const ValueId a = builder.broadcast(call.operands[0], call.type.shape);
  const ValueId b = builder.broadcast(call.operands[1], call.type.shape);
  if (is_integer(call.type.dtype) && builder.are_same(a, b)) return builder.splat_i64(0, call.type);
  return builder.apply("stablehlo.subtract", {a, b});
}

ValueId lower_abs(FunctionBuilder& builder, const Call& call) {
  const bool is_signed = is_float(call.type.dtype) || is_signed_integer(call.type.dtype);
  return is_signed ? builder.apply("stablehlo.abs", {call.operands[0]}) : call.operands[0];
}

ValueId lower_compare(FunctionBuilder& builder, const Call& call) {
  std::string direction = unpack<CompareAttrs>(call.attrs).direction;
  for (char& c : direction) c = static_cast<char>(c - 'a' + 'A');
  const ValueId a = builder.broadcast(call.operands[0], call.type.shape);
  const ValueId b = builder.broadcast(call.operands[1], call.type.shape);
  // As with the difference: a compiler may fold what compares equal integers.
  if (!is_float(builder.type(a).dtype) && builder.are_same(a, b)) {
    const bool holds = direction == "EQ" || direction == "LE" || direction == "GE";
    return builder.splat_i64(holds ? 1 : 0, call.type);
  }
  return builder.compare(direction, a, b);
}

ValueId lower_select(FunctionBuilder& builder, const Call& call) {
  const ValueId condition = builder.broadcast(call.operands[0], call.type.shape);
  const ValueId a = builder.broadcast(call.operands[1], call.type.shape);
  const ValueId b = builder.broadcast(call.operands[2], call.type.shape);
  return builder.select(condition, a, b);
}

// The dialect leaves open what an integer divided by 0 is, and the least divided by -1: both are
// kept away from its division.
ValueId lower_div(FunctionBuilder& builder, const Call& call) {
  const TensorType& type = call.type;
  const ValueId a = builder.broadcast(call.operands[0], type.shape);
  const ValueId b = builder.broadcast(call.operands[1], type.shape);
  if (is_float(type.dtype)) return builder.apply("stablehlo.divide", {a, b});
  const ValueId zero = builder.splat_i64(0, type);
  const ValueId one = builder.splat_i64(1, type);
  const ValueId by_zero = builder.compare("EQ", b, zero);
  ValueId divisor = builder.select(by_zero, one, b);
  if (!is_signed_integer(type.dtype)) {
    const ValueId quotient = builder.apply("stablehlo.divide", {a, divisor});
    return builder.select(by_zero, zero, quotient);
  }
  const ValueId minus_one = builder.splat_i64(-1, type);
  const ValueId negates = builder.compare("EQ", b, minus_one);
  divisor = builder.select(negates, one, divisor);
  const ValueId quotient = builder.apply("stablehlo.divide", {a, divisor});
  const ValueId opposite = builder.apply(kOpposite, {a});
  const ValueId negated = builder.select(negates, opposite, quotient);
  return builder.select(by_zero, zero, negated);
}

// Toward zero, saturating, 0 for NaN: what lies outside the integer's range is kept away from the
// dialect's conversion, which leaves that open.
ValueId float_to_integer(FunctionBuilder& builder, ValueId x, const TensorType& result) {
  const TensorType from = builder.type(x);
  const auto bits = static_cast<int>(8 * dtype_bytes(result.dtype));
  const bool is_signed = is_signed_integer(result.dtype);
  const int value_bits = is_signed ? bits - 1 : bits;
  // Both bounds are powers of two (or 0), which every float dtype holds or rounds to infinity.
  const double low = is_signed ? -std::ldexp(1.0, value_bits) : 0.0;
  const double high = std::ldexp(1.0, value_bits);
  const int64_t least = is_signed ? static_cast<int64_t>(low) : 0;
  const int64_t greatest = bits == 64 && is_signed ? std::numeric_limits<int64_t>::max()
                           : bits == 64            ? -1
                                                   : static_cast<int64_t>(high) - 1;
  const ValueId below = builder.compare("LE", x, builder.splat(low, from));
  const ValueId above = builder.compare("GE", x, builder.splat(high, from));
  const ValueId no_number = builder.compare("NE", x, x);
  const ValueId outside = builder.apply(kDisjunction, {below, above});
  const ValueId unsafe = builder.apply(kDisjunction, {outside, no_number});
  const ValueId inside = builder.select(unsafe, builder.splat(0.0, from), x);
  const ValueId converted = builder.convert(inside, result.dtype);
  const ValueId floored = builder.select(below, builder.splat_i64(least, result), converted);
  return builder.select(above, builder.splat_i64(greatest, result), floored);
}

ValueId lower_convert(FunctionBuilder& builder, const Call& call) {
  const ValueId x = call.operands[0];
  const TensorType from = builder.type(x);
  if (from.dtype == call.type.dtype) return x;
  if (call.type.dtype == DType::Bool) {
    return builder.compare("NE", x, builder.zeros(from));
  }
  if (is_float(from.dtype) && is_integer(call.type.dtype)) {
    return float_to_integer(builder, x, call.type);
  }
  return builder.convert(x, call.type.dtype);
}

}  // namespace

constinit const StablehloRow kElementwiseRows[18] = {
    {{.op = &kAbs}, lower_abs},
    {{.op = &kAdd}, lower_binary<kAddition>},
    {{.op = &kCompare}, lower_compare},
    {{.op = &kConvert}, lower_convert},
    {{.op = &kDiv}, lower_div},
    {{.op = &kExp}, lower_widened<kExponential>},
    {{.op = &kLog}, lower_widened<kLogarithm>},
    {{.op = &kLogicalAnd}, lower_binary<kConjunction>},
    {{.op = &kLogicalNot}, lower_unary<kNegation>},
    {{.op = &kLogicalOr}, lower_binary<kDisjunction>},
    {{.op = &kMaximum}, lower_binary<kGreater>},
    {{.op = &kMinimum}, lower_binary<kLess>},
    {{.op = &kMul}, lower_binary<kProduct>},
    {{.op = &kNeg}, lower_unary<kOpposite>},
    {{.op = &kSelect}, lower_select},
    {{.op = &kSqrt}, lower_widened<kRoot>},
    {{.op = &kSub}, lower_sub},
    {{.op = &kTanh, .accuracy = {.max_ulp = 8}, .accuracy_reason = kOwnFunctions},
     lower_widened<kTangent>},
};

constinit const StablehloRow kChloRows[2] = {
    {{.op = &kErf,
      .accuracy = {.max_abs = 5e-7, .max_ulp = 8},
      .accuracy_reason = "compilers of the dialect expand chlo.erf to a rational function"},
     lower_widened<kErrorFunction>},
    {{.op = &kErfc, .accuracy = {.max_abs = 4e-7, .max_ulp = 0}, .accuracy_reason = kOwnFunctions},
     lower_widened<kComplement>},
};

}  // namespace capra::stablehlo
