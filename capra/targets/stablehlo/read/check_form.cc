// What printing an operation relies on, and the rules that come after it.
#include <algorithm>

#include "capra/base/number_text.h"
#include "capra/targets/stablehlo/read/check.h"

namespace capra::stablehlo {
namespace {

using Ints = std::vector<int64_t>;

Failure invalid(std::string message) { return fail("attribute-invalid", std::move(message)); }

Failure count_failure(size_t found, const std::string& needed) {
  return fail("operand-count", "found " + number_text(found) + " operands, needed " + needed);
}

// Which operands are no tensors: the axis of a dim, and the extents that a reshape is given.
bool takes_index(const Operation& operation, size_t operand) {
  return operand > 0 && operation.name.starts_with("tensor.");
}

Status check_operands(const OperationRule& rule, const Function& function,
                      const Operation& operation) {
  const size_t count = operation.operands.size();
  if (rule.operands >= 0 && count != static_cast<size_t>(rule.operands)) {
    return count_failure(count, number_text(rule.operands));
  }
  if (rule.operands < 0 && count == 0 && operation.name != "stablehlo.composite") {
    return count_failure(count, "at least 1");
  }
  for (size_t i = 0; i < count; ++i) {
    const bool needs_index = takes_index(operation, i);
    if (is_index(function, operation.operands[i]) == needs_index) continue;
    return fail("type-mismatch",
                "operand " + number_text(i) + " is " +
                    (needs_index ? "a tensor, needed an index" : "an index, needed a tensor"));
  }
  return {};
}

Status check_attributes(const OperationRule& rule, const Operation& operation) {
  for (const AttributeRule& needed : rule.attributes) {
    const auto found = std::ranges::find(operation.attributes, needed.name, &NamedAttribute::name);
    const bool is_there = found != operation.attributes.end();
    if (is_there ? needed.is(found->value) : !needed.required) continue;
    return invalid(std::string(needed.name) + (is_there ? " is not " : " is missing, needed ") +
                   std::string(needed.kind));
  }
  for (const NamedAttribute& one : operation.attributes) {
    const auto same = [&](const NamedAttribute& other) { return other.name == one.name; };
    if (std::ranges::find(rule.attributes, one.name, &AttributeRule::name) ==
        rule.attributes.end()) {
      return invalid("there is no attribute " + one.name);
    }
    if (std::ranges::count_if(operation.attributes, same) > 1) {
      return invalid(one.name + " is there twice");
    }
  }
  return {};
}

Status check_box(const Operation& operation, int64_t rank) {
  for (const std::string_view name : {"starts", "limits", "strides"}) {
    const size_t count = operation.attribute<Ints>(name).size();
    if (count == static_cast<size_t>(rank)) continue;
    return invalid("the box has " + number_text(count) + " " + std::string(name) + ", needed " +
                   number_text(rank));
  }
  return {};
}

// One number a dim of the folded side: how many dims of the other stand for it.
Status check_counts(const Operation& operation, const TensorType& many, const TensorType& few) {
  const Ints& groups = operation.attribute<Ints>("counts");
  if (groups.size() != static_cast<size_t>(few.shape.rank())) {
    return invalid("the groups of dims has " + number_text(groups.size()) + " numbers, needed " +
                   number_text(few.shape.rank()));
  }
  int64_t left = many.shape.rank();
  for (const int64_t group : groups) {
    if (group < 1 || group > left) {
      return invalid("the groups do not hold the dims of " + type_text(many));
    }
    left -= group;
  }
  if (left == 0) return {};
  return invalid("the groups do not hold the dims of " + type_text(many));
}

// One operand for each dynamic dim of the result, after what is reshaped.
Status check_expand_operands(const Operation& operation) {
  const auto& dims = operation.type.shape.dims();
  const auto dynamic = std::ranges::count_if(dims, [](const Dim& dim) { return !dim.is_static(); });
  const size_t needed = 1 + static_cast<size_t>(dynamic);
  if (operation.operands.size() == needed) return {};
  return count_failure(operation.operands.size(), number_text(needed));
}

}  // namespace

Status check_form(const OperationRule& rule, const Function& function, const Operation& operation) {
  CAPRA_TRY(check_operands(rule, function, operation));
  CAPRA_TRY(check_attributes(rule, operation));
  if (operation.operands.empty()) return {};
  const TensorType& first = function.type(operation.operands[0]);
  if (operation.name == "stablehlo.slice") return check_box(operation, first.shape.rank());
  if (operation.name == "tensor.collapse_shape") {
    return check_counts(operation, first, operation.type);
  }
  if (operation.name == "tensor.expand_shape") {
    CAPRA_TRY(check_expand_operands(operation));
    return check_counts(operation, operation.type, first);
  }
  return {};
}

}  // namespace capra::stablehlo
