// Records of input, parameter, output and group.
#include "capra/ir/structural_ops.h"

namespace capra {
namespace {

Result<TensorType> infer_input(const InputAttrs& attrs) { return attrs.type; }
Result<TensorType> infer_parameter(const ParameterAttrs& attrs) { return attrs.type; }
Result<TensorType> infer_output(const TensorType& value, const OutputAttrs&) { return value; }
// A group's type is that of its body's output, which the graph knows and the verifier checks.
Result<TensorType> infer_group(TypeRefs, const GroupAttrs&) {
  return fail("group-has-no-rule", "the type of a group is that of its body's output");
}

constexpr Operand kOutputOperands[] = {{"value", "the result", Arity::Required}};
constexpr Operand kGroupOperands[] = {
    {"operands", "what the body's inputs stand for", Arity::Variadic}};

}  // namespace

constinit const OpDef kInput{
    .name = "input",
    .summary = "A value given at each run.",
    .attrs = attrs_of<InputAttrs>(),
    .infer = erase_infer<infer_input>,
};

constinit const OpDef kParameter{
    .name = "parameter",
    .summary = "A value of the model, the same at every run.",
    .attrs = attrs_of<ParameterAttrs>(),
    .infer = erase_infer<infer_parameter>,
};

constinit const OpDef kOutput{
    .name = "output",
    .summary = "Marks its operand as a result of the graph.",
    .operands = kOutputOperands,
    .attrs = attrs_of<OutputAttrs>(),
    .infer = erase_infer<infer_output>,
};

constinit const OpDef kGroup{
    .name = "group",
    .summary = "Several ops to be run as one.",
    .operands = kGroupOperands,
    .attrs = attrs_of<GroupAttrs>(),
    .infer = erase_infer<infer_group>,
};

}  // namespace capra
