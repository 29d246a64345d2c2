// One form an operation, as print.cc writes it.
#include "capra/targets/stablehlo/read/operation.h"

#include <utility>

namespace capra::stablehlo {
namespace {

using Ints = std::vector<int64_t>;

}  // namespace

Failure OperationReader::mismatch(const Token& token, std::string message) const {
  return fail("type-mismatch", std::move(message), lexer_.at(token));
}

Status OperationReader::new_value(const Token& name, ValueId value) {
  if (values_.emplace(name.text, value).second) return {};
  return lexer_.needed(name, "a name that no other value has");
}

// A value that is defined above.
Result<ValueId> OperationReader::read_operand() {
  CAPRA_ASSIGN(const Token name, lexer_.expect(TokenKind::Value, "a value such as %x"));
  const auto found = values_.find(name.text);
  if (found == values_.end()) return lexer_.needed(name, "a value that is defined above");
  return found->second;
}

Result<std::vector<ValueId>> OperationReader::read_operands() {
  std::vector<ValueId> operands;
  do {
    CAPRA_ASSIGN(const ValueId operand, read_operand());
    operands.push_back(operand);
  } while (lexer_.peek().is(",") && take_comma_before_value());
  return operands;
}

// Operands may be followed by a comma and something else, which is then read by the form.
bool OperationReader::take_comma_before_value() {
  lexer_.next();
  after_comma_ = lexer_.peek().kind != TokenKind::Value;
  return !after_comma_;
}

// The comma after the operands, taken already or not.
Status OperationReader::expect_comma() {
  if (std::exchange(after_comma_, false)) return {};
  return lexer_.expect(",");
}

// One type for each value, its own.
Status OperationReader::read_operand_types(const std::vector<ValueId>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) CAPRA_TRY(lexer_.expect(","));
    const Token token = lexer_.peek();
    CAPRA_ASSIGN(const TensorType type, read_type(lexer_));
    const TensorType& own = function_.type(values[i]);
    if (type != own || is_index(function_, values[i])) {
      return mismatch(token, "found " + type_text(type) + " for a value of type " +
                                 (is_index(function_, values[i]) ? "index" : type_text(own)));
    }
  }
  return {};
}

// `: (T, T) -> T`
Status OperationReader::read_signature(Operation& operation) {
  if (after_comma_) return lexer_.needed(lexer_.peek(), "a value");
  CAPRA_TRY(lexer_.expect_all(": ("));
  CAPRA_TRY(read_operand_types(operation.operands));
  CAPRA_TRY(lexer_.expect_all(") ->"));
  CAPRA_ASSIGN(operation.type, read_type(lexer_));
  return {};
}

Status OperationReader::read_argument() {
  CAPRA_ASSIGN(const Token name, lexer_.expect(TokenKind::Value, "an argument such as %x"));
  CAPRA_TRY(new_value(name, static_cast<ValueId>(function_.arguments.size())));
  CAPRA_TRY(lexer_.expect(":"));
  CAPRA_ASSIGN(TensorType type, read_type(lexer_));
  function_.arguments.push_back({std::string(name.text.substr(1)), std::move(type)});
  return {};
}

Status OperationReader::read_return() {
  CAPRA_TRY(lexer_.expect("return"));
  if (lexer_.peek().kind != TokenKind::Value) return {};
  CAPRA_ASSIGN(function_.results, read_operands());
  CAPRA_TRY(lexer_.expect(":"));
  return read_operand_types(function_.results);
}

Status OperationReader::read_operation() {
  const Token result = lexer_.next();
  CAPRA_TRY(lexer_.expect("="));
  const Token name = lexer_.peek();
  const bool is_quoted = name.text == "\"stablehlo.gather\"";
  if (name.kind != TokenKind::Word && !is_quoted) {
    return lexer_.needed(name, "an operation such as stablehlo.add");
  }
  lexer_.next();
  Operation operation;
  operation.name = is_quoted ? name.text.substr(1, name.text.size() - 2) : name.text;
  after_comma_ = false;
  const OperationRule* rule = find_rule(operation.name);
  if (rule != nullptr) {
    operation.name = rule->name;
    CAPRA_TRY(read_form(*rule, operation));
    if (after_comma_) return lexer_.needed(lexer_.peek(), "a value");
  }
  Status checked = check_operation(function_, operation);
  if (!checked.ok()) {
    Diagnostic diagnostic = checked.error();
    if (rule != nullptr) {
      diagnostic.message = std::string(operation.name) + ": " + diagnostic.message;
    }
    diagnostic.at = lexer_.at(name);
    return fail(std::move(diagnostic));
  }
  return new_value(result, function_.append(std::move(operation)));
}

Status OperationReader::read_form(const OperationRule& rule, Operation& operation) {
  if (rule.form == Form::Own) return read_own_form(operation);
  CAPRA_ASSIGN(operation.operands, read_operands());
  switch (rule.form) {
    case Form::Dim: {
      CAPRA_TRY(expect_comma());
      CAPRA_TRY(read_named_int("dim", operation));
      return read_signature(operation);
    }
    case Form::Dims: {
      CAPRA_TRY(expect_comma());
      CAPRA_TRY(read_named_list("dims", operation));
      return read_signature(operation);
    }
    case Form::Plain:
      return read_signature(operation);
    case Form::Chlo:
      CAPRA_TRY(lexer_.expect(":"));
      CAPRA_TRY(read_operand_types(operation.operands));
      CAPRA_TRY(lexer_.expect("->"));
      break;
    default:
      CAPRA_TRY(lexer_.expect(":"));
      break;
  }
  CAPRA_ASSIGN(operation.type, read_type(lexer_));
  return {};
}

Status OperationReader::read_own_form(Operation& operation) {
  const std::string_view name = operation.name;
  if (name == "arith.constant") return read_index(operation);
  if (name == "stablehlo.compare") return read_compare(operation);
  if (name == "stablehlo.composite") return read_composite(operation);
  if (name == "stablehlo.constant") return read_constant(operation);
  if (name == "stablehlo.dot_general") return read_dot(operation);
  if (name == "stablehlo.dynamic_broadcast_in_dim") return read_dynamic_broadcast(operation);
  if (name == "stablehlo.gather") return read_gather(operation);
  if (name == "stablehlo.iota") return read_iota(operation);
  if (name == "stablehlo.reduce") return read_reduce(operation);
  if (name == "stablehlo.select") return read_select(operation);
  if (name == "stablehlo.slice") return read_slice(operation);
  if (name == "tensor.dim") return read_tensor_dim(operation);
  if (name == "util.global.load") return read_load(operation);
  return read_groups(operation);
}

// `name = 0`
Status OperationReader::read_named_int(std::string_view name, Operation& operation) {
  CAPRA_TRY(lexer_.expect(name));
  CAPRA_TRY(lexer_.expect("="));
  CAPRA_ASSIGN(const int64_t value, read_int(lexer_));
  operation.attributes.push_back({std::string(name), value});
  return {};
}

// `name = [0]`
Status OperationReader::read_named_list(std::string_view name, Operation& operation) {
  CAPRA_TRY(lexer_.expect(name));
  CAPRA_TRY(lexer_.expect("="));
  CAPRA_ASSIGN(Ints values, read_list(lexer_));
  operation.attributes.push_back({std::string(name), std::move(values)});
  return {};
}

Status OperationReader::read_index(Operation& operation) {
  CAPRA_ASSIGN(const int64_t value, read_int(lexer_));
  operation.attributes.push_back({"value", value});
  operation.type = kIndexType;
  return lexer_.expect_all(": index");
}

Status OperationReader::read_compare(Operation& operation) {
  CAPRA_ASSIGN(const Token direction, lexer_.expect(TokenKind::Word, "a direction such as LT"));
  CAPRA_TRY(lexer_.expect(","));
  CAPRA_ASSIGN(operation.operands, read_operands());
  CAPRA_TRY(expect_comma());
  CAPRA_ASSIGN(const Token type, lexer_.expect(TokenKind::Word, "FLOAT, SIGNED or UNSIGNED"));
  operation.attributes = {{"direction", std::string(direction.text)},
                          {"type", std::string(type.text)}};
  return read_signature(operation);
}

Status OperationReader::read_composite(Operation& operation) {
  const Token token = lexer_.peek();
  CAPRA_ASSIGN(std::string name, read_string(lexer_));
  if (lexer_.peek().kind == TokenKind::Value) {
    CAPRA_ASSIGN(operation.operands, read_operands());
    if (after_comma_) return lexer_.needed(lexer_.peek(), "a value");
  }
  CAPRA_TRY(lexer_.expect_all("{ composite_attributes ="));
  CAPRA_ASSIGN(Dictionary attributes, read_dictionary(lexer_));
  CAPRA_TRY(lexer_.expect_all(", decomposition ="));
  CAPRA_ASSIGN(std::string decomposition, read_symbol(lexer_));
  CAPRA_TRY(lexer_.expect_all(", version ="));
  const Token version_token = lexer_.peek();
  CAPRA_ASSIGN(const int64_t version, read_int(lexer_));
  if (version != static_cast<int32_t>(version)) {
    return lexer_.needed(version_token, "a number of 32 bits");
  }
  CAPRA_TRY(lexer_.expect_all(": i32 }"));
  operation.attributes = {{"name", std::move(name)},
                          {"composite_attributes", std::move(attributes)},
                          {"decomposition", Symbol{decomposition}},
                          {"version", version}};
  CAPRA_TRY(read_signature(operation));
  CompositeUse use{token, std::move(decomposition), {}, operation.type};
  for (const ValueId id : operation.operands) use.operands.push_back(function_.type(id));
  composites_.push_back(std::move(use));
  return {};
}

Status OperationReader::read_constant(Operation& operation) {
  CAPRA_ASSIGN(DenseValue dense, read_dense(lexer_));
  operation.attributes.push_back({"value", std::move(dense.value)});
  operation.type = std::move(dense.type);
  return {};
}

Status OperationReader::read_dot(Operation& operation) {
  CAPRA_ASSIGN(operation.operands, read_operands());
  CAPRA_TRY(expect_comma());
  Ints batching;
  if (lexer_.take("batching_dims")) {
    CAPRA_TRY(lexer_.expect("="));
    CAPRA_ASSIGN(batching, read_list(lexer_));
    CAPRA_TRY(lexer_.expect("x"));
    const Token token = lexer_.peek();
    CAPRA_ASSIGN(const Ints right, read_list(lexer_));
    if (right != batching) return lexer_.needed(token, "the batching dims of the first operand");
    CAPRA_TRY(lexer_.expect(","));
  }
  CAPRA_TRY(lexer_.expect_all("contracting_dims = ["));
  CAPRA_ASSIGN(const int64_t left, read_int(lexer_));
  CAPRA_TRY(lexer_.expect_all("] x ["));
  CAPRA_ASSIGN(const int64_t right, read_int(lexer_));
  CAPRA_TRY(lexer_.expect("]"));
  operation.attributes = {{"batching", std::move(batching)}, {"left", left}, {"right", right}};
  return read_signature(operation);
}

Status OperationReader::read_dynamic_broadcast(Operation& operation) {
  CAPRA_ASSIGN(operation.operands, read_operands());
  CAPRA_TRY(expect_comma());
  CAPRA_TRY(read_named_list("dims", operation));
  if (lexer_.peek().is("{")) {
    const Token token = lexer_.peek();
    CAPRA_ASSIGN(Dictionary known, read_dictionary(lexer_));
    for (NamedAttribute& one : known) {
      const bool is_known =
          one.name == "known_expanding_dimensions" || one.name == "known_nonexpanding_dimensions";
      if (!is_known || !std::holds_alternative<Ints>(one.value)) {
        return lexer_.needed(token, "known_expanding_dimensions or known_nonexpanding_dimensions");
      }
      operation.attributes.push_back(std::move(one));
    }
  }
  return read_signature(operation);
}

Status OperationReader::read_gather(Operation& operation) {
  CAPRA_TRY(lexer_.expect("("));
  CAPRA_ASSIGN(operation.operands, read_operands());
  CAPRA_TRY(lexer_.expect_all(") { dimension_numbers = # stablehlo.gather <"));
  CAPRA_TRY(read_named_list("offset_dims", operation));
  CAPRA_TRY(lexer_.expect_all(", collapsed_slice_dims = ["));
  CAPRA_ASSIGN(const int64_t axis, read_int(lexer_));
  CAPRA_TRY(lexer_.expect_all("] , start_index_map = ["));
  const Token token = lexer_.peek();
  CAPRA_ASSIGN(const int64_t mapped, read_int(lexer_));
  if (mapped != axis) return lexer_.needed(token, "the collapsed dim");
  CAPRA_TRY(lexer_.expect_all("] ,"));
  operation.attributes.push_back({"axis", axis});
  CAPRA_TRY(read_named_int("index_vector_dim", operation));
  CAPRA_TRY(lexer_.expect_all("> , slice_sizes ="));
  CAPRA_ASSIGN(Ints sizes, read_array(lexer_));
  operation.attributes.push_back({"slice_sizes", std::move(sizes)});
  CAPRA_TRY(lexer_.expect_all(", indices_are_sorted = false }"));
  return read_signature(operation);
}

Status OperationReader::read_iota(Operation& operation) {
  CAPRA_TRY(read_named_int("dim", operation));
  CAPRA_TRY(lexer_.expect(":"));
  CAPRA_ASSIGN(operation.type, read_type(lexer_));
  return {};
}

Status OperationReader::read_reduce(Operation& operation) {
  CAPRA_TRY(lexer_.expect("("));
  CAPRA_ASSIGN(const ValueId x, read_operand());
  CAPRA_TRY(lexer_.expect_all("init :"));
  CAPRA_ASSIGN(const ValueId initial, read_operand());
  operation.operands = {x, initial};
  CAPRA_TRY(lexer_.expect_all(") applies"));
  CAPRA_ASSIGN(const Token applies, lexer_.expect(TokenKind::Word, "what is applied"));
  operation.attributes.push_back({"applies", std::string(applies.text)});
  CAPRA_TRY(lexer_.expect("across"));
  CAPRA_TRY(read_named_list("dimensions", operation));
  return read_signature(operation);
}

// `%c, %a, %b : tensor<2xi1>, tensor<2xf32>`
Status OperationReader::read_select(Operation& operation) {
  CAPRA_ASSIGN(operation.operands, read_operands());
  if (after_comma_) return lexer_.needed(lexer_.peek(), "a value");
  CAPRA_TRY(lexer_.expect(":"));
  CAPRA_TRY(read_operand_types({operation.operands[0]}));
  CAPRA_TRY(lexer_.expect(","));
  CAPRA_ASSIGN(operation.type, read_type(lexer_));
  return {};
}

Status OperationReader::read_slice(Operation& operation) {
  CAPRA_ASSIGN(operation.operands, read_operands());
  CAPRA_TRY(lexer_.expect("["));
  Ints starts;
  Ints limits;
  Ints strides;
  if (!lexer_.take("]")) {
    do {
      CAPRA_ASSIGN(const int64_t start, read_int(lexer_));
      CAPRA_TRY(lexer_.expect(":"));
      CAPRA_ASSIGN(const int64_t limit, read_int(lexer_));
      int64_t stride = 1;
      if (lexer_.take(":")) {
        CAPRA_ASSIGN(stride, read_int(lexer_));
      }
      starts.push_back(start);
      limits.push_back(limit);
      strides.push_back(stride);
    } while (lexer_.take(","));
    CAPRA_TRY(lexer_.expect("]"));
  }
  operation.attributes = {{"starts", std::move(starts)},
                          {"limits", std::move(limits)},
                          {"strides", std::move(strides)}};
  return read_signature(operation);
}

Status OperationReader::read_tensor_dim(Operation& operation) {
  CAPRA_ASSIGN(operation.operands, read_operands());
  operation.type = kIndexType;
  CAPRA_TRY(lexer_.expect(":"));
  return read_operand_types({operation.operands[0]});
}

Status OperationReader::read_load(Operation& operation) {
  const Token token = lexer_.peek();
  CAPRA_ASSIGN(std::string name, read_symbol(lexer_));
  CAPRA_TRY(lexer_.expect(":"));
  CAPRA_ASSIGN(operation.type, read_type(lexer_));
  for (const Global& global : globals_) {
    if (global.name != name) continue;
    operation.attributes.push_back({"global", Symbol{std::move(name)}});
    if (global.type == operation.type) return {};
    return mismatch(
        token, "the global is " + type_text(global.type) + ", found " + type_text(operation.type));
  }
  return lexer_.needed(token, "a global");
}

// `%x [[0], [1, 2]] output_shape [%0, 2, 4] : T into T`
Status OperationReader::read_groups(Operation& operation) {
  CAPRA_ASSIGN(const ValueId x, read_operand());
  operation.operands = {x};
  CAPRA_TRY(lexer_.expect("["));
  Ints counts;
  int64_t next = 0;
  if (!lexer_.take("]")) {
    do {
      const Token token = lexer_.peek();
      CAPRA_ASSIGN(const Ints group, read_list(lexer_));
      for (const int64_t dim : group) {
        if (dim != next++) return lexer_.needed(token, "dims that ascend by one");
      }
      counts.push_back(static_cast<int64_t>(group.size()));
    } while (lexer_.take(","));
    CAPRA_TRY(lexer_.expect("]"));
  }
  operation.attributes.push_back({"counts", std::move(counts)});
  std::vector<Dim> sizes;
  const bool expands = operation.name == "tensor.expand_shape";
  if (expands) CAPRA_TRY(read_output_shape(operation, sizes));
  CAPRA_TRY(lexer_.expect(":"));
  CAPRA_TRY(read_operand_types({x}));
  CAPRA_TRY(lexer_.expect("into"));
  const Token token = lexer_.peek();
  CAPRA_ASSIGN(operation.type, read_type(lexer_));
  if (!expands || Shape(sizes) == operation.type.shape) return {};
  return mismatch(
      token, "found " + type_text(operation.type) + " for the output shape " + Shape(sizes).text());
}

Status OperationReader::read_output_shape(Operation& operation, std::vector<Dim>& sizes) {
  CAPRA_TRY(lexer_.expect_all("output_shape ["));
  if (lexer_.take("]")) return {};
  do {
    if (lexer_.peek().kind == TokenKind::Value) {
      CAPRA_ASSIGN(const ValueId size, read_operand());
      operation.operands.push_back(size);
      sizes.emplace_back(kDynamic);
    } else {
      CAPRA_ASSIGN(const int64_t size, read_int(lexer_));
      sizes.emplace_back(size);
    }
  } while (lexer_.take(","));
  return lexer_.expect("]");
}

}  // namespace capra::stablehlo
