// Builds the graph that a pass returns: copies nodes in order and puts new calls in the place of
// old ones. Names, paths and notes are kept.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capra/ir/graph.h"
#include "capra/ir/tensor.h"

namespace capra {

/// Copies a graph node by node, in its order. Every node of the source ends up as a value of the
/// result: its copy, a value that was there already, or the result of spliced calls.
class GraphRewriter {
 public:
  explicit GraphRewriter(const Graph& source);
  ~GraphRewriter();
  GraphRewriter(const GraphRewriter&) = delete;
  GraphRewriter& operator=(const GraphRewriter&) = delete;

  const Graph& source() const { return source_; }
  const Graph& result() const { return result_; }

  /// Users of a source node, once per operand position; `output` nodes are users.
  const std::vector<NodeId>& users(NodeId old) const { return users_[static_cast<size_t>(old)]; }
  const std::vector<std::vector<NodeId>>& all_users() const { return users_; }
  bool used_once(NodeId old) const { return users(old).size() == 1; }

  bool is_mapped(NodeId old) const { return map_[static_cast<size_t>(old)] != kAbsent; }
  /// The value of the result that stands for `old`; `kAbsent` for `kAbsent`.
  NodeId mapped(NodeId old) const;

  /// Copies `old` and what it needs, unless a value stands for it already.
  NodeId copy(NodeId old);
  /// Appends a node that stands for `old` and takes over its name, unless it has one.
  NodeId append_for(NodeId old, Node node);
  /// From now on `value`, a node of the result, stands for `old`; the notes of `old` move there.
  void replace(NodeId old, NodeId value);
  /// The notes of `old`, which a replacement took in beside its root, move to `value`, a node of
  /// the result.
  void keep_notes(NodeId old, NodeId value);
  /// Notes it on a node of the result, unless it is there; of hints what the op allows.
  void add_note(NodeId value, const Note& note);
  /// The notes of one approximation, `legalizedFrom` first: they stay together, and are left out
  /// where the whole record is there.
  void add_record(NodeId value, std::span<const Note> record);
  /// Gives `to`, a node of the result without a name, that of `from`.
  void move_name(NodeId from, NodeId to);

  /// The value that stands for `old` as a tensor, for calls within `splice`.
  Tensor tensor(NodeId old) const;
  Tensor result_tensor(NodeId value) const;
  const Context& context() const { return context_; }
  /// Calls on tensors made by `calls` are appended here with the path of `old`; what it returns
  /// stands for `old`. Throws `Error` as calls on tensors do.
  void splice(NodeId old, const std::function<Tensor()>& calls);
  /// The same where the notes of `old` have been kept elsewhere.
  void splice_without_notes(NodeId old, const std::function<Tensor()>& calls);
  /// Appends one call on values of the result: for sinks of passes.
  NodeId append_call(const OpDef& op, std::span<const Tensor> operands, Attrs attrs,
                     TensorType type);
  /// The nodes of a group's body, with their paths and notes, stand in its place.
  void inline_group(NodeId old);
  /// Appends a node that stands for no node of the source.
  NodeId append(Node node);

  /// The result without the nodes that only the rewriting left without a user. Nodes that had no
  /// user in the source stay: dropping those is the work of `dead-code`.
  Graph finish() &&;

 private:
  class AppendSink;

  void adopt(NodeId old, NodeId value);

  const Graph& source_;
  Graph result_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<NodeId> map_;
  std::vector<bool> prunable_;  ///< by node of the result: made here, or used in the source
  std::string path_;            ///< of the calls being spliced
  Context context_;
};

/// The graph with the nodes of each group for which `opens` holds in its place, and so on for the
/// groups that were inside.
Graph inline_groups(Graph graph,
                    const std::function<bool(const Graph& graph, NodeId group)>& opens);

/// Builds a group out of nodes of the source. Inputs are added in the order of the label's
/// operands.
class GroupBuilder {
 public:
  GroupBuilder(GraphRewriter& rewriter, std::string_view label);

  /// Adds an operand of the group, `old` of the source, called `role` in the body; absent stays
  /// absent. Returns the body's value.
  NodeId input(std::string_view role, NodeId old);
  /// Copies a source node into the body, on operands of the body.
  NodeId copy(NodeId old, std::vector<NodeId> operands);
  /// Appends a call to the body. Throws `Error`.
  NodeId call(const OpDef& op, std::vector<NodeId> operands, Attrs attrs, std::string path);
  /// Closes the body on its value `result` and appends the group, which stands for `root` and takes
  /// over its name; the notes stay with the nodes of the body.
  NodeId finish_for(NodeId root, NodeId result);
  /// The same for a group that stands for no node of the source.
  NodeId finish(NodeId result, std::string path);

 private:
  Node close(NodeId result, std::string path);

  GraphRewriter& rewriter_;
  std::string label_;
  Graph body_;
  std::vector<NodeId> operands_;  ///< of the rewriter's result
};

}  // namespace capra
