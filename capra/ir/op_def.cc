// Lookup of records, and the checks every call gets before its shape rule.
#include "capra/ir/op_def.h"

#include <algorithm>

#include "capra/base/number_text.h"
#include "capra/ir/structural_ops.h"

namespace capra {
namespace {

constexpr const OpDef* kStructural[] = {&kGroup, &kInput, &kOutput, &kParameter};

Failure count_failure(const OpDef& op, size_t found) {
  std::string needed;
  for (const Operand& operand : op.operands) {
    if (!needed.empty()) needed += ", ";
    needed += operand.name;
    if (operand.arity == Arity::Optional) needed += " (optional)";
    if (operand.arity == Arity::Variadic) needed += "...";
  }
  return fail("operand-count", std::string(op.name) + " takes (" + needed + "), found " +
                                   number_text(found) + " operands");
}

Status check_operands(const OpDef& op, TypeRefs operands) {
  const bool variadic = !op.operands.empty() && op.operands.back().arity == Arity::Variadic;
  if (operands.size() > op.operands.size() && !variadic) return count_failure(op, operands.size());
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const Arity arity = op.operands[i].arity;
    const bool absent = i >= operands.size() || operands[i] == nullptr;
    if (absent && arity == Arity::Required) return count_failure(op, operands.size());
  }
  if (variadic && std::ranges::find(operands, nullptr) != operands.end()) {
    return count_failure(op, operands.size());
  }
  return {};
}

}  // namespace

const OpDef* find_op(OpSet ops, std::string_view name) {
  for (const OpDef* op : kStructural) {
    if (op->name == name) return op;
  }
  const auto found = std::ranges::lower_bound(ops, name, {}, &OpDef::name);
  return found != ops.end() && (*found)->name == name ? *found : nullptr;
}

std::vector<const TensorType*> operand_types(std::span<const Tensor> operands) {
  std::vector<const TensorType*> types;
  types.reserve(operands.size());
  for (const Tensor& operand : operands) types.push_back(operand ? &operand.type() : nullptr);
  return types;
}

std::string call_text(const OpDef& op, TypeRefs operands) {
  std::string text = std::string(op.name) + "(";
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) text += ", ";
    text += operands[i] == nullptr ? "_" : operands[i]->text();
  }
  return text + ")";
}

Result<TensorType> infer_type(const OpDef& op, TypeRefs operands, const Attrs& attrs) {
  CAPRA_TRY(check_operands(op, operands));
  Result<TensorType> type = op.infer(operands, attrs);
  if (type.ok() && !fits_memory(*type)) {
    type = fail("shape-too-large",
                "the result " + type->text() + " has more bytes than 63 bits can count");
  }
  if (type.ok()) return type;
  Diagnostic diagnostic = type.error();
  diagnostic.message = std::string(op.name) + ": " + diagnostic.message;
  if (diagnostic.at.empty()) {
    diagnostic.at = call_text(op, operands);
  }
  return fail(std::move(diagnostic));
}

Tensor detail::tensor_operand(std::span<const Tensor> all, size_t& next) {
  return next < all.size() ? all[next++] : Tensor();
}

}  // namespace capra
