// erf without chlo: the project's own f32 sequence, recorded as operations. A fused step becomes a
// product and a sum, each rounded, as the dialect has no fused one.
#include <string_view>

#include "capra/ops/erf.h"
#include "capra/targets/stablehlo/rows.h"

namespace capra::stablehlo {
namespace {

// The value types the sequence is written in: a number, until it meets a value of the function.
struct Recorded {
  FunctionBuilder* builder = nullptr;  ///< null for a number
  ValueId id = -1;
  float number = 0;

  static Recorded all(float c) { return {nullptr, -1, c}; }
};
struct RecordedBits {
  FunctionBuilder* builder;
  ValueId id;
};
struct RecordedMask {
  FunctionBuilder* builder;
  ValueId id;
};

ValueId as_value(const Recorded& x, FunctionBuilder& builder, const TensorType& type) {
  return x.builder != nullptr ? x.id : builder.splat(double{x.number}, type);
}

const Recorded& recorded_one(const Recorded& a, const Recorded& b) {
  CAPRA_CHECK(a.builder != nullptr || b.builder != nullptr);
  return a.builder != nullptr ? a : b;
}

Recorded binary(std::string_view name, const Recorded& a, const Recorded& b) {
  FunctionBuilder& builder = *recorded_one(a, b).builder;
  const TensorType type = builder.type(recorded_one(a, b).id);
  const ValueId left = as_value(a, builder, type);
  const ValueId right = as_value(b, builder, type);
  return {&builder, builder.apply(name, {left, right})};
}

Recorded unary(std::string_view name, const Recorded& x) {
  return {x.builder, x.builder->apply(name, {x.id})};
}

Recorded add(const Recorded& a, const Recorded& b) { return binary("stablehlo.add", a, b); }
Recorded sub(const Recorded& a, const Recorded& b) { return binary("stablehlo.subtract", a, b); }
Recorded mul(const Recorded& a, const Recorded& b) { return binary("stablehlo.multiply", a, b); }
Recorded div(const Recorded& a, const Recorded& b) { return binary("stablehlo.divide", a, b); }
Recorded neg(const Recorded& x) { return unary("stablehlo.negate", x); }
Recorded abs(const Recorded& x) { return unary("stablehlo.abs", x); }
Recorded fma(const Recorded& a, const Recorded& b, const Recorded& c) { return add(mul(a, b), c); }

RecordedMask lt(const Recorded& a, const Recorded& b) {
  FunctionBuilder& builder = *recorded_one(a, b).builder;
  const TensorType type = builder.type(recorded_one(a, b).id);
  const ValueId left = as_value(a, builder, type);
  const ValueId right = as_value(b, builder, type);
  return {&builder, builder.compare("LT", left, right)};
}

Recorded select(const RecordedMask& mask, const Recorded& yes, const Recorded& no) {
  FunctionBuilder& builder = *mask.builder;
  const TensorType type{DType::F32, builder.type(mask.id).shape};
  const ValueId a = as_value(yes, builder, type);
  const ValueId b = as_value(no, builder, type);
  return {&builder, builder.select(mask.id, a, b)};
}

// a < b ? a : b.
Recorded min(const Recorded& a, const Recorded& b) { return select(lt(a, b), a, b); }

RecordedBits to_bits(const Recorded& x) {
  FunctionBuilder& builder = *x.builder;
  const TensorType bits{DType::U32, builder.type(x.id).shape};
  return {&builder, builder.append({"stablehlo.bitcast_convert", {x.id}, bits})};
}

Recorded from_bits(const RecordedBits& x) {
  FunctionBuilder& builder = *x.builder;
  const TensorType type{DType::F32, builder.type(x.id).shape};
  return {&builder, builder.append({"stablehlo.bitcast_convert", {x.id}, type})};
}

RecordedBits with_number(std::string_view name, const RecordedBits& x, int64_t number) {
  FunctionBuilder& builder = *x.builder;
  const ValueId right = builder.splat_i64(number, builder.type(x.id));
  return {&builder, builder.apply(name, {x.id, right})};
}

template <int n>
RecordedBits shift_left(const RecordedBits& x) {
  return with_number("stablehlo.shift_left", x, n);
}

Recorded copy_sign(const Recorded& x, const Recorded& sign) {
  const RecordedBits magnitude = with_number("stablehlo.and", to_bits(x), 0x7fffffff);
  const RecordedBits top = with_number("stablehlo.and", to_bits(sign), 0x80000000);
  FunctionBuilder& builder = *x.builder;
  return from_bits({&builder, builder.apply("stablehlo.or", {magnitude.id, top.id})});
}

#define CAPRA_INLINE inline
#include "capra/base/math.inc"
#undef CAPRA_INLINE

bool takes_erf(TypeRefs, const Attrs&, const TensorType& result) {
  return result.dtype != DType::F64;
}

ValueId lower_erf(FunctionBuilder& builder, const Call& call) {
  const ValueId wide = builder.convert(call.operands[0], DType::F32);
  const Recorded result = erf(Recorded{&builder, wide});
  return builder.convert(result.id, call.type.dtype);
}

}  // namespace

constinit const StablehloRow kErfSequenceRows[1] = {
    {{.op = &kErf, .takes = takes_erf}, lower_erf},
};

}  // namespace capra::stablehlo
