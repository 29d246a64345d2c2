// What the chip's compiler reads: a graph of matrices with the ops that the chip has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/result.h"
#include "capra/targets/ga2/matrix.h"

namespace capra::ga2 {

/// Most elements of a tensor: many times what the chip's memories hold.
inline constexpr int64_t kMostElements = int64_t{1} << 20;

struct Extents {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t words() const { return rows * columns; }
  bool operator==(const Extents&) const = default;
};

enum class NodeOp : uint8_t {
  Input,
  Weight,
  Matmul,
  Softmax,
  Add,
  Relu,
  Concat,
  Slice,
  Argmax,
  Output,
};
/// `input`, `matmul`, ...
std::string_view node_op_name(NodeOp op);

/// Position of a node in its network.
using NodeIndex = int64_t;

struct NetworkNode {
  NodeOp op = NodeOp::Input;
  std::vector<NodeIndex> operands;
  Extents shape;
  std::string name = {};        ///< of an input, weight or output
  std::string tag = {};         ///< by which its range can be set; may be empty
  Matrix<double> weights = {};  ///< of a weight
  int bits = 8;                 ///< of each value of a weight: 8 or 4
  bool transpose_b = false;     ///< of a matmul: the second operand is [n, k]
  double factor = 1;            ///< of a matmul: multiplies the product
  int64_t start = 0;            ///< of a slice: its first row
};

/// Nodes in the author's order, which the compiler keeps: nothing is reordered, shared or dropped,
/// nodes that nothing uses included.
class Network {
 public:
  const std::vector<NetworkNode>& nodes() const { return nodes_; }
  const NetworkNode& node(NodeIndex index) const { return nodes_[static_cast<size_t>(index)]; }
  NodeIndex size() const { return static_cast<NodeIndex>(nodes_.size()); }
  /// Whether the node has the integers of a weight of 4 bits: such a weight, or a slice or output
  /// of one. They have a scale of their own.
  bool is_narrow(NodeIndex index) const { return narrow_[static_cast<size_t>(index)]; }
  /// For each node the nodes that use it, in order, once an operand.
  std::vector<std::vector<NodeIndex>> users() const;

  // Each adds a node behind the others and returns its index. Operands are indices of nodes that
  // are there. They fail with `network-invalid` where shapes, names or values do not fit.

  Result<NodeIndex> input(std::string name, Extents shape);
  /// 8 bits: one value a word. 4 bits: eight a word, in external memory alone.
  Result<NodeIndex> weight(std::string name, Matrix<double> values, int bits = 8);
  /// a [m, k] times b [k, n], or [n, k] where `transpose_b`, times the factor.
  Result<NodeIndex> matmul(NodeIndex a, NodeIndex b, bool transpose_b = false, double factor = 1);
  /// Of each row.
  Result<NodeIndex> softmax(NodeIndex a);
  Result<NodeIndex> add(NodeIndex a, NodeIndex b);
  Result<NodeIndex> relu(NodeIndex a);
  /// The rows of a, then those of b.
  Result<NodeIndex> concat_rows(NodeIndex a, NodeIndex b);
  Result<NodeIndex> slice_rows(NodeIndex a, int64_t start, int64_t count);
  /// The index of the first maximum of each row: [m, 1].
  Result<NodeIndex> argmax(NodeIndex a);
  Result<NodeIndex> output(NodeIndex a, std::string name);
  /// Names a tensor, so that its range can be set.
  void tag(NodeIndex node, std::string name);

 private:
  Result<NodeIndex> append(NetworkNode node);
  Status check_operand(NodeIndex operand) const;
  Status check_new_name(const std::string& name) const;

  std::vector<NetworkNode> nodes_;
  std::vector<bool> narrow_;  // by node
};

/// `(2, 3)`: how messages print shapes.
std::string extents_text(const Extents& shape);

}  // namespace capra::ga2
