// The records the tests of ir use.
#include "tests/ir/sample_ops.h"

namespace capra::sample {
namespace {

Result<TensorType> infer_constant(const ConstantAttrs& attrs) { return attrs.value.type(); }
Result<TensorType> infer_everything(const TensorType& x, const EverythingAttrs&) { return x; }

Result<TensorType> infer_join(TypeRefs parts, const JoinAttrs&) {
  if (parts.empty()) return fail("operand-count", "needs one part at least");
  for (const TensorType* part : parts) {
    if (*part != *parts.front()) return fail("operand-shape", "parts differ");
  }
  return *parts.front();
}

Result<TensorType> infer_lerp(const TensorType& a, const TensorType& b, const TensorType* weight,
                              const TensorType* bias, const NoAttrs&) {
  if (a != b || (weight != nullptr && *weight != a) || (bias != nullptr && *bias != a)) {
    return fail("operand-shape", "operands differ");
  }
  return a;
}

Result<TensorType> infer_mul(const TensorType& a, const TensorType& b, const NoAttrs&) {
  if (a.dtype != b.dtype) return fail("operand-dtype", "dtypes differ");
  CAPRA_ASSIGN(Shape shape, broadcast_shapes(a.shape, b.shape));
  return TensorType{a.dtype, std::move(shape)};
}

Result<TensorType> infer_neg(const TensorType& x, const NoAttrs&) {
  if (!is_float(x.dtype)) return fail("operand-dtype", "x is not a float");
  return x;
}

Result<TensorType> infer_select(const TensorType& condition, const TensorType& a,
                                const TensorType& b, const NoAttrs&) {
  if (condition.dtype != DType::Bool || a.dtype != b.dtype) {
    return fail("operand-dtype", "needs bool and two of one dtype");
  }
  CAPRA_ASSIGN(Shape shape, broadcast_shapes(a.shape, b.shape));
  CAPRA_ASSIGN(shape, broadcast_shapes(condition.shape, shape));
  return TensorType{a.dtype, std::move(shape)};
}

Result<TensorType> infer_view(const TensorType& x, const ViewAttrs& attrs) {
  return TensorType{x.dtype, attrs.shape};
}

constexpr Operand kOne[] = {{"x", ""}};
constexpr Operand kTwo[] = {{"a", ""}, {"b", ""}};
constexpr Operand kThree[] = {{"condition", ""}, {"a", ""}, {"b", ""}};
constexpr Operand kMany[] = {{"parts", "", Arity::Variadic}};
constexpr Operand kWithOptional[] = {
    {"a", ""}, {"b", ""}, {"weight", "", Arity::Optional}, {"bias", "", Arity::Optional}};

}  // namespace

constinit const OpDef kConstant{
    .name = "constant", .attrs = attrs_of<ConstantAttrs>(), .infer = erase_infer<infer_constant>};
constinit const OpDef kEverything{.name = "everything",
                                  .operands = kOne,
                                  .attrs = attrs_of<EverythingAttrs>(),
                                  .infer = erase_infer<infer_everything>};
constinit const OpDef kJoin{.name = "join",
                            .operands = kMany,
                            .attrs = attrs_of<JoinAttrs>(),
                            .infer = erase_infer<infer_join>};
constinit const OpDef kLerp{.name = "lerp",
                            .operands = kWithOptional,
                            .attrs = attrs_of<NoAttrs>(),
                            .infer = erase_infer<infer_lerp>};
constinit const OpDef kMul{
    .name = "mul", .operands = kTwo, .attrs = attrs_of<NoAttrs>(), .infer = erase_infer<infer_mul>};
constinit const OpDef kNeg{
    .name = "neg", .operands = kOne, .attrs = attrs_of<NoAttrs>(), .infer = erase_infer<infer_neg>};
constinit const OpDef kSelect{.name = "select",
                              .operands = kThree,
                              .attrs = attrs_of<NoAttrs>(),
                              .infer = erase_infer<infer_select>};
constinit const OpDef kView{.name = "view",
                            .operands = kOne,
                            .attrs = attrs_of<ViewAttrs>(),
                            .infer = erase_infer<infer_view>};

OpSet ops() {
  static constexpr const OpDef* kAll[] = {&kConstant, &kEverything, &kJoin,   &kLerp,
                                          &kMul,      &kNeg,        &kSelect, &kView};
  return kAll;
}

}  // namespace capra::sample
