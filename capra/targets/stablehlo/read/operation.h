// The operations of one function, read one after the other.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capra/targets/stablehlo/read/check.h"
#include "capra/targets/stablehlo/read/values.h"

namespace capra::stablehlo {

/// A composite, until all functions are known.
struct CompositeUse {
  Token token;
  std::string decomposition;
  std::vector<TensorType> operands;
  TensorType result;
};

/// Reads into a function that grows with each operation.
class OperationReader {
 public:
  /// What may be loaded are the globals; the lexer stands in the function.
  OperationReader(Lexer& lexer, std::span<const Global> globals)
      : lexer_(lexer), globals_(globals) {}

  /// Before any operation.
  Status read_argument();
  /// `%1 = stablehlo.add ...`
  Status read_operation();
  /// `return %1 : tensor<f32>`
  Status read_return();

  Function& function() { return function_; }
  const std::vector<CompositeUse>& composites() const { return composites_; }

 private:
  Failure mismatch(const Token& token, std::string message) const;
  Status new_value(const Token& name, ValueId value);
  Result<ValueId> read_operand();
  Result<std::vector<ValueId>> read_operands();
  bool take_comma_before_value();
  Status expect_comma();
  Status read_operand_types(const std::vector<ValueId>& values);
  Status read_signature(Operation& operation);
  Status read_form(const OperationRule& rule, Operation& operation);
  Status read_own_form(Operation& operation);
  Status read_named_int(std::string_view name, Operation& operation);
  Status read_named_list(std::string_view name, Operation& operation);
  Status read_index(Operation& operation);
  Status read_compare(Operation& operation);
  Status read_composite(Operation& operation);
  Status read_constant(Operation& operation);
  Status read_dot(Operation& operation);
  Status read_dynamic_broadcast(Operation& operation);
  Status read_gather(Operation& operation);
  Status read_iota(Operation& operation);
  Status read_reduce(Operation& operation);
  Status read_select(Operation& operation);
  Status read_slice(Operation& operation);
  Status read_tensor_dim(Operation& operation);
  Status read_load(Operation& operation);
  Status read_groups(Operation& operation);
  Status read_output_shape(Operation& operation, std::vector<Dim>& sizes);

  Lexer& lexer_;
  std::span<const Global> globals_;
  Function function_;
  std::map<std::string_view, ValueId> values_;
  std::vector<CompositeUse> composites_;
  bool after_comma_ = false;  ///< what follows operands and a comma is no value
};

}  // namespace capra::stablehlo
