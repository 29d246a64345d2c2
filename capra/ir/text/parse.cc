// Graphs from text: names of values, nodes, groups.
#include <map>
#include <set>

#include "capra/base/nearest_name.h"
#include "capra/base/number_text.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ir/text/parse_values.h"
#include "capra/ir/text/values.h"

namespace capra {
namespace {

/// Reads the nodes between two braces into one graph; groups read their bodies with another one.
class BodyParser {
 public:
  BodyParser(TextReader& reader, OpSet ops, SplatBudget& splats, std::string name, int depth)
      : reader_(reader), ops_(ops), splats_(splats), graph_(std::move(name)), depth_(depth) {}

  /// From after `{` to after `}`.
  Result<Graph> parse() {
    while (!reader_.take('}')) CAPRA_TRY(read_node());
    return std::move(graph_);
  }

 private:
  struct Statement {
    Token result;  ///< End when the node has no name
    Token op_name;
    bool braces = false;  ///< attributes were written
    Node node;
  };

  Status read_node() {
    Statement statement;
    Node& node = statement.node;
    if (reader_.peek().kind == TokenKind::Value) {
      statement.result = reader_.next();
      CAPRA_TRY(reader_.expect('=', "'=' after the name of a value"));
    }
    CAPRA_ASSIGN(statement.op_name,
                 reader_.expect(TokenKind::Identifier, "a node such as '%y = neg %x', or '}'"));
    CAPRA_TRY(find_record(statement));
    CAPRA_TRY(read_operands(node));
    CAPRA_TRY(read_braces(statement));
    std::optional<TensorType> written;
    const Token type_token = reader_.peek();
    if (reader_.take(':')) {
      CAPRA_ASSIGN(written, read_type(reader_));
    }
    CAPRA_TRY(read_path_and_notes(node));
    CAPRA_TRY(name_result(statement));
    CAPRA_TRY(node.op == &kGroup ? read_group(statement) : infer(statement, written));
    if (written.has_value() && *written != node.type) {
      return fail("type-mismatch",
                  "written " + written->text() + ", inferred " + node.type.text() + " for " +
                      std::string(node.op->name),
                  reader_.at(type_token), "correct the type, or leave it out");
    }
    CAPRA_TRY(check_unique(statement));
    const NodeId id = graph_.append(std::move(node));
    if (statement.result.kind == TokenKind::Value) values_[statement.result.text] = id;
    return {};
  }

  Status find_record(Statement& statement) {
    const Token& name = statement.op_name;
    statement.node.op = find_op(ops_, name.text);
    if (statement.node.op != nullptr) {
      const bool output = statement.node.op == &kOutput;
      if (output && statement.result.kind == TokenKind::Value) {
        return reader_.needed(name, "an op with a result; an output has none");
      }
      if (!output && statement.result.kind != TokenKind::Value) {
        return reader_.needed(name, "a name for the result, as in '%y = neg %x'");
      }
      return {};
    }
    std::vector<std::string_view> names = {"group", "input", "output", "parameter"};
    names.reserve(names.size() + ops_.size());
    for (const OpDef* op : ops_) names.push_back(op->name);
    return fail("op-unknown", "there is no op '" + std::string(name.text.substr(0, 80)) + "'",
                reader_.at(name), did_you_mean(name.text, names));
  }

  Result<NodeId> find_value(const Token& token) const {
    const auto found = values_.find(token.text);
    if (found != values_.end()) return found->second;
    std::vector<std::string_view> names;
    names.reserve(values_.size());
    for (const auto& [name, id] : values_) names.push_back(name);
    return reader_.needed(token, "the name of a value defined above",
                          did_you_mean(token.text, names));
  }

  // Values, `_`, and numbers, which become constants of the dtype of the last value among the
  // operands. Constants stand before the node, in the order in which they are written.
  Status read_operands(Node& node) {
    std::vector<std::pair<size_t, TextReader>> numbers;
    const TensorType* type = nullptr;
    while (true) {
      const Token token = reader_.peek();
      if (token.kind == TokenKind::Value) {
        if (reader_.peek_second().is('=')) break;  // the next node
        CAPRA_ASSIGN(const NodeId id, find_value(token));
        node.operands.push_back(id);
        type = &graph_.node(id).type;
      } else if (token.is("_")) {
        node.operands.push_back(kAbsent);
      } else if (token.kind == TokenKind::Number || token.is("nan") || token.is("inf") ||
                 token.is("true") || token.is("false")) {
        numbers.emplace_back(node.operands.size(), reader_);
        node.operands.push_back(kAbsent);
      } else {
        break;
      }
      reader_.next();
      if (reader_.take(',') && !starts_operand()) {
        return reader_.needed(reader_.peek(), "an operand after ','");
      }
    }
    if (numbers.empty()) return {};
    if (type == nullptr) {
      return numbers.front().second.needed(numbers.front().second.peek(),
                                           "a value among the operands, to give numbers a dtype");
    }
    const DType dtype = type->dtype;
    for (auto& [position, at_number] : numbers) {
      CAPRA_ASSIGN(node.operands[position], append_constant(at_number, dtype));
    }
    return {};
  }

  bool starts_operand() const {
    const Token& token = reader_.peek();
    return token.kind == TokenKind::Value || token.kind == TokenKind::Number || token.is("_") ||
           token.is("nan") || token.is("inf") || token.is("true") || token.is("false");
  }

  Result<NodeId> append_constant(TextReader& at_number, DType dtype) {
    const Token token = at_number.peek();
    const OpDef* constant = find_op(ops_, "constant");
    if (constant == nullptr || constant->attrs.fields.size() != 1 ||
        constant->attrs.fields[0].kind != AttrKind::Array) {
      return fail("op-unknown", "a number as operand needs the op 'constant'", at_number.at(token));
    }
    CAPRA_ASSIGN(Array value, read_scalar(at_number, dtype));
    TensorType type = value.type();
    return graph_.append(
        {.op = constant, .operands = {}, .attrs = {std::move(value)}, .type = std::move(type)});
  }

  Status read_braces(Statement& statement) {
    Node& node = statement.node;
    statement.braces = reader_.take('{');
    if (!statement.braces) {
      // An empty text: defaults, and a failure where an attribute has none.
      TextReader nothing("", "");
      Result<Attrs> attrs = read_attrs(nothing, node.op->attrs, statement.op_name.text, splats_);
      if (!attrs.ok()) {
        Diagnostic diagnostic = attrs.error();
        diagnostic.at = reader_.at(statement.op_name);
        return fail(std::move(diagnostic));
      }
      node.attrs = *std::move(attrs);
      return {};
    }
    CAPRA_ASSIGN(node.attrs, read_attrs(reader_, node.op->attrs, statement.op_name.text, splats_));
    return reader_.expect('}', "'}' after the attributes");
  }

  Status read_path_and_notes(Node& node) {
    if (reader_.take('@')) {
      CAPRA_ASSIGN(const Token path, reader_.expect(TokenKind::String, "a path in quotes"));
      CAPRA_ASSIGN(node.path, unquote(reader_, path));
    }
    if (reader_.take('!')) {
      CAPRA_TRY(reader_.expect('{', "'{' and notes after '!'"));
      CAPRA_ASSIGN(node.notes, read_notes(reader_));
      CAPRA_TRY(reader_.expect('}', "'}' after the notes"));
    }
    return {};
  }

  Status name_result(Statement& statement) {
    Node& node = statement.node;
    if (statement.result.kind == TokenKind::Value) {
      const Token& token = statement.result;
      const std::string_view name = token.text.substr(1);
      const bool number = name.find_first_not_of("0123456789") == std::string_view::npos;
      if (!number && !is_identifier(name)) {
        return reader_.needed(token, "a name that starts with a letter, or a number");
      }
      if (values_.contains(token.text)) {
        return reader_.needed(token, "a name that is not taken by a value above");
      }
      if (!number) node.name = name;
      if (node.op == &kInput && !statement.braces) node.attrs[0] = node.name;
    } else if (!node.operands.empty() && node.operands[0] != kAbsent && !statement.braces) {
      node.attrs[0] = graph_.node(node.operands[0]).name;  // an output is called like its value
    }
    return {};
  }

  Status infer(Statement& statement, const std::optional<TensorType>& written) {
    Node& node = statement.node;
    if (node.op == &kInput || node.op == &kParameter) {
      if (!written.has_value()) {
        return reader_.needed(reader_.peek(),
                              "':' and the type of the " + std::string(node.op->name));
      }
      node.attrs[1] = *written;
    }
    Result<TensorType> type =
        infer_type(*node.op, operand_types(graph_, node.operands), node.attrs);
    if (!type.ok()) {
      Diagnostic diagnostic = type.error();
      const std::string place = reader_.at(statement.op_name);
      diagnostic.at = diagnostic.at.empty() ? place : place + ": " + diagnostic.at;
      return fail(std::move(diagnostic));
    }
    node.type = *std::move(type);
    return {};
  }

  Status read_group(Statement& statement) {
    Node& node = statement.node;
    if (depth_ == kMaxTextDepth) {
      return reader_.needed(statement.op_name,
                            "at most " + number_text(kMaxTextDepth) + " levels of groups");
    }
    const Token body_token = reader_.peek();
    CAPRA_TRY(reader_.expect("body", "'body' and the nodes of the group"));
    std::string name = "main";
    if (reader_.take('@')) {
      CAPRA_ASSIGN(name, read_graph_name(reader_));
    }
    CAPRA_TRY(reader_.expect('{', "'{' and the nodes of the group"));
    BodyParser parser(reader_, ops_, splats_, std::move(name), depth_ + 1);
    CAPRA_ASSIGN(Graph body, parser.parse());
    const std::vector<NodeId> inputs = body.inputs();
    const std::vector<NodeId> outputs = body.outputs();
    const std::string place = reader_.at(body_token);
    if (outputs.size() != 1) {
      return fail("graph-invalid",
                  "a group has a body with one output, found " + number_text(outputs.size()),
                  place);
    }
    if (inputs.size() != node.operands.size()) {
      return fail("graph-invalid",
                  "the body has " + number_text(inputs.size()) + " inputs, the group has " +
                      number_text(node.operands.size()) + " operands",
                  place);
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const TensorType& inside = body.node(inputs[i]).type;
      if (node.operands[i] == kAbsent || graph_.node(node.operands[i]).type != inside) {
        return fail("graph-invalid",
                    "input " + number_text(i) + " of the body is " + inside.text() +
                        ", the operand is " +
                        (node.operands[i] == kAbsent ? "absent"
                                                     : graph_.node(node.operands[i]).type.text()),
                    place);
      }
    }
    node.type = body.node(outputs[0]).type;
    node.body = std::make_shared<const Graph>(std::move(body));
    return {};
  }

  Status check_unique(const Statement& statement) {
    const Node& node = statement.node;
    if (node.op != &kInput && node.op != &kParameter && node.op != &kOutput) return {};
    const auto& name = std::get<std::string>(node.attrs[0]);
    if (names_.emplace(node.op, name).second) return {};
    return fail("graph-invalid",
                "two " + std::string(node.op->name) + "s are called " + quoted(name),
                reader_.at(statement.op_name), "give each its own name");
  }

 public:
  static Result<std::string> read_graph_name(TextReader& reader) {
    const Token token = reader.peek();
    if (token.kind == TokenKind::Identifier) return std::string(reader.next().text);
    if (token.kind == TokenKind::String) return unquote(reader, reader.next());
    return reader.needed(token, "the name of a graph after '@'");
  }

 private:
  TextReader& reader_;
  OpSet ops_;
  SplatBudget& splats_;
  Graph graph_;
  int depth_;
  std::map<std::string_view, NodeId> values_;
  std::set<std::pair<const OpDef*, std::string>> names_;
};

}  // namespace

Result<Graph> parse_graph(std::string_view text, OpSet ops, std::string_view source) {
  TextReader reader(text, source);
  SplatBudget splats;
  CAPRA_TRY(reader.expect("graph", "'graph @name {'"));
  CAPRA_TRY(reader.expect('@', "'@' and the name of the graph"));
  CAPRA_ASSIGN(std::string name, BodyParser::read_graph_name(reader));
  CAPRA_TRY(reader.expect('{', "'{' and the nodes of the graph"));
  BodyParser parser(reader, ops, splats, std::move(name), 0);
  CAPRA_ASSIGN(Graph graph, parser.parse());
  CAPRA_TRY(reader.expect_end());
  return graph;
}

}  // namespace capra
