// The SSA graph: nodes in insertion order, each with one result.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capra/ir/op_def.h"
#include "capra/ir/tape.h"

namespace capra {

class Graph;

/// Position of a node in its graph; its one result has the same number. -1: an absent operand.
using NodeId = int32_t;
inline constexpr NodeId kAbsent = -1;

struct Node {
  const OpDef* op = nullptr;
  std::vector<NodeId> operands;
  Attrs attrs;
  TensorType type;        ///< of the result; the operand's for `output`
  std::string name = {};  ///< of the value in text; empty: its number is printed
  std::string path = {};  ///< scope of the model the call was made in
  std::vector<Note> notes = {};
  std::shared_ptr<const Graph> body = {};  ///< only of a group: its inputs stand for the operands

  template <class A>
  A attrs_as() const {
    return unpack<A>(attrs);
  }
};

/// Nodes in insertion order; operands come before their users. Passes build a new graph from an old
/// one (see GraphBuilder) rather than edit in place.
class Graph {
 public:
  explicit Graph(std::string name = "main") : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  NodeId size() const { return static_cast<NodeId>(nodes_.size()); }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  Node& node(NodeId id) { return nodes_[static_cast<size_t>(id)]; }
  const std::vector<Node>& nodes() const { return nodes_; }

  /// Appends a node whose operands are in the graph already.
  NodeId append(Node node);
  /// Infers the type from the record and appends; fails with the record's diagnostic, `at` the
  /// path.
  Result<NodeId> append_call(const OpDef& op, std::vector<NodeId> operands, Attrs attrs,
                             std::string path = {});

  std::vector<NodeId> inputs() const;
  std::vector<NodeId> parameters() const;
  std::vector<NodeId> outputs() const;
  /// The id of the input or output called `name`, or -1.
  NodeId find_input(std::string_view name) const;
  NodeId find_output(std::string_view name) const;
  /// For each node, the nodes that use its result, in order, once per operand position.
  std::vector<std::vector<NodeId>> users() const;

  /// Equal nodes (ops, operands, attributes, types, bodies, notes, names, paths) in equal order.
  friend bool operator==(const Graph& a, const Graph& b);

 private:
  std::string name_;
  std::vector<Node> nodes_;
};

/// The types of the operands of a node of `graph`, or of one not yet appended; null where absent.
std::vector<const TensorType*> operand_types(const Graph& graph, std::span<const NodeId> operands);

/// The note of that name; null where the node has none.
const Note* find_note(const Node& node, std::string_view name);

/// A graph of one call: the node of `graph` on inputs of its operands' types, and an output.
Graph graph_of_call(const Graph& graph, const Node& node, std::string name);

/// SSA form of a tape; node numbers equal entry numbers.
Graph build_graph(Tape tape);
/// The linear record of a graph without groups.
Tape build_tape(const Graph& graph);

/// Plays a graph's nodes into a sink: with an eager sink it computes, with a trace sink it copies.
/// `inputs` are bound in the order of graph.inputs(); symbols take the dims that the inputs have
/// where the graph names a symbol, in shape attributes too. Returns the outputs in order. Throws
/// `Error` (`input-count`, `input-type`, `symbol-conflict`, and what the calls throw).
std::vector<Tensor> replay(const Graph& graph, const Context& context,
                           std::span<const Tensor> inputs);

}  // namespace capra
