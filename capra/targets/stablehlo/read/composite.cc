// Names and attributes of composites are those of the records.
#include "capra/targets/stablehlo/read/composite.h"

#include <algorithm>

#include "capra/base/number_text.h"
#include "capra/ir/attrs.h"
#include "capra/ops/all_ops.h"

namespace capra::stablehlo {
namespace {

using Ints = std::vector<int64_t>;

const OpDef& find_composite(const Operation& operation) {
  const CompositeName wanted{operation.attribute<std::string>("name"),
                             operation.attribute<int64_t>("version")};
  const auto found =
      std::ranges::find(all_ops(), wanted, [](const OpDef* op) { return composite_name(*op); });
  if (found != all_ops().end()) return **found;
  throw Error({"op-unknown",
               "no op is called " + wanted.name + ", version " + number_text(wanted.version)});
}

template <class T>
std::optional<AttrValue> as(const Attribute& attribute) {
  const T* value = std::get_if<T>(&attribute);
  return value != nullptr ? std::optional<AttrValue>(*value) : std::nullopt;
}

// Nothing where the attribute is of another kind.
std::optional<AttrValue> attr_value(AttrKind kind, const Attribute& attribute) {
  switch (kind) {
    case AttrKind::Bool:
      return as<bool>(attribute);
    case AttrKind::Int:
      return as<int64_t>(attribute);
    case AttrKind::Float:
      return as<double>(attribute);
    case AttrKind::String:
      return as<std::string>(attribute);
    case AttrKind::Ints:
      return as<Ints>(attribute);
    case AttrKind::Array:
      return as<Array>(attribute);
    case AttrKind::DType: {
      const auto* name = std::get_if<std::string>(&attribute);
      const std::optional<DType> dtype = name != nullptr ? parse_dtype(*name) : std::nullopt;
      return dtype ? std::optional<AttrValue>(*dtype) : std::nullopt;
    }
    case AttrKind::Shape: {
      const auto* sizes = std::get_if<Ints>(&attribute);
      return sizes != nullptr ? std::optional<AttrValue>(Shape(*sizes)) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

Diagnostic bad_absent(const OpDef& op, const std::string& what) {
  return {"attribute-invalid",
          std::string(kAbsentOperands) + " of " + std::string(op.name) + " " + what};
}

// The operands with those that are absent; each of these stands before one that is there.
std::vector<Tensor> placed(const OpDef& op, std::span<const Tensor> operands, const Ints& absent) {
  std::vector<Tensor> all;
  auto next_absent = absent.begin();
  for (const Tensor& operand : operands) {
    while (next_absent != absent.end() && *next_absent == static_cast<int64_t>(all.size())) {
      all.emplace_back();
      ++next_absent;
    }
    all.push_back(operand);
  }
  if (next_absent == absent.end()) return all;
  throw Error(bad_absent(op, "has " + number_text(*next_absent) +
                                 ", needed numbers that ascend, each before an operand"));
}

}  // namespace

std::optional<Tensor> import_composite(const Context& context, const Operation& operation,
                                       std::span<const Tensor> operands) {
  const OpDef& op = find_composite(operation);
  Attrs attrs = op.attrs.defaults();
  Ints absent;
  for (const NamedAttribute& one : operation.attribute<Dictionary>("composite_attributes")) {
    if (one.name == kAbsentOperands) {
      const auto* places = std::get_if<Ints>(&one.value);
      if (places == nullptr) throw Error(bad_absent(op, "is no list of integers"));
      absent = *places;
      continue;
    }
    const int index = attr_index(op.attrs, one.name);
    if (index < 0) {
      throw Error({"attribute-unknown", std::string(op.name) + " has no attribute " + one.name});
    }
    const AttrKind kind = op.attrs.fields[static_cast<size_t>(index)].kind;
    // A shape with symbols is a text.
    if (kind == AttrKind::Shape && std::holds_alternative<std::string>(one.value)) return {};
    std::optional<AttrValue> value = attr_value(kind, one.value);
    if (!value) {
      throw Error({"attribute-invalid", one.name + " of " + std::string(op.name) + " is no " +
                                            std::string(attr_kind_name(kind))});
    }
    attrs[static_cast<size_t>(index)] = *std::move(value);
  }
  const std::vector<Tensor> all = placed(op, operands, absent);
  return apply(op, all, std::move(attrs), context);
}

}  // namespace capra::stablehlo
