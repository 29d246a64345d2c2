// Values and attributes of a module.
#include "capra/targets/stablehlo/module.h"

#include <algorithm>
#include <bit>

namespace capra::stablehlo {

bool operator==(const NamedAttribute& a, const NamedAttribute& b) {
  if (a.name != b.name || a.value.index() != b.value.index()) return false;
  const auto* x = std::get_if<double>(&a.value);
  const auto* y = std::get_if<double>(&b.value);
  if (x == nullptr) return a.value == b.value;
  return std::bit_cast<uint64_t>(*x) == std::bit_cast<uint64_t>(*y);
}

const Attribute* Operation::find_attribute(std::string_view key) const {
  const auto found = std::ranges::find(attributes, key, &NamedAttribute::name);
  return found == attributes.end() ? nullptr : &found->value;
}

void Operation::throw_without_attribute(std::string_view key) const {
  throw Error({"program-invalid",
               std::string(name) + " has no attribute " + std::string(key) + " of this kind",
               std::string(name)});
}

Entry entry_of(const Function& function) {
  Entry entry{function.name, {}, {}};
  entry.arguments.reserve(function.arguments.size());
  for (const Argument& argument : function.arguments) entry.arguments.push_back(argument.type);
  entry.results.reserve(function.results.size());
  for (const ValueId result : function.results) entry.results.push_back(function.type(result));
  return entry;
}

CompositeName composite_name(const OpDef& op) {
  if (op.composite.name.empty()) return {"capra." + std::string(op.name), 1};
  return {std::string(op.composite.name), op.composite.version};
}

std::string_view comparison_type(DType dtype) {
  if (is_float(dtype)) return "FLOAT";
  return is_signed_integer(dtype) ? "SIGNED" : "UNSIGNED";
}

DType signed_of(DType dtype) {
  switch (dtype) {
    case DType::U64:
      return DType::I64;
    case DType::U32:
      return DType::I32;
    case DType::U16:
      return DType::I16;
    case DType::U8:
      return DType::I8;
    default:
      return dtype;
  }
}

TensorType loaded_type(const Global& global) {
  return {signed_of(global.type.dtype), global.type.shape};
}

const TensorType& Function::type(ValueId value) const {
  const auto position = static_cast<size_t>(value);
  return position < arguments.size() ? arguments[position].type
                                     : operations[position - arguments.size()].type;
}

ValueId Function::append(Operation operation) {
  operations.push_back(std::move(operation));
  return static_cast<ValueId>(arguments.size() + operations.size() - 1);
}

}  // namespace capra::stablehlo
