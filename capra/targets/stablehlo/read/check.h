// What an operation's operands, attributes and result must be: the rules of the dialect's verifier
// for the operations that are emitted, as strict as what is emitted.
#pragma once

#include <span>
#include <string_view>

#include "capra/ir/op_def.h"
#include "capra/targets/stablehlo/module.h"

namespace capra::stablehlo {

/// How an operation is written.
enum class Form : uint8_t {
  OneType,  ///< `%a, %b : T`: operands and result have the type
  Chlo,     ///< `%a : T -> T`
  Plain,    ///< `%a, %b : (T, T) -> T`
  Dim,      ///< the same after `, dim = 0`
  Dims,     ///< the same after `, dims = [0]`
  Own,      ///< a form of its own
};

/// An attribute that an operation has, or may have.
struct AttributeRule {
  std::string_view name;
  bool (*is)(const Attribute& value);
  std::string_view kind;  ///< in words
  bool required = true;
};

/// One operation that can be read.
struct OperationRule {
  std::string_view name;
  Form form;
  int operands;  ///< -1: one or more
  /// Fails with `type-mismatch` or `attribute-invalid` and no place. `check_form` holds, and in
  /// form OneType all types are equal.
  Status (*check)(const Operation& operation, TypeRefs operands);
  std::span<const AttributeRule> attributes = {};
};

/// All of them, sorted by name.
std::span<const OperationRule> operation_rules();
/// The rule of this name, or null.
const OperationRule* find_rule(std::string_view name);

/// Whether the value is an `index` rather than a tensor.
bool is_index(const Function& function, ValueId value);

/// What the form of an operation needs, whatever its types' extents: how many operands there are
/// and which of them are an index, which attributes of which kinds, and how long lists are that go
/// with the operands' ranks. Fails with `operand-count`, `type-mismatch`, `attribute-invalid` and
/// no place.
Status check_form(const OperationRule& rule, const Function& function, const Operation& operation);

/// Checks an operation whose operands are values of the function. What it names outside the
/// function (globals, decompositions) is not looked at. Fails as rules do, and with `op-unknown`,
/// `operand-count`.
Status check_operation(const Function& function, const Operation& operation);

}  // namespace capra::stablehlo
