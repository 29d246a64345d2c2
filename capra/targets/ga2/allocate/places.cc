// Views instead of copies: a concatenation, a slice and a relu cost no instruction.
#include "capra/targets/ga2/allocate/places.h"

#include <algorithm>

#include "capra/base/number_text.h"
#include "capra/targets/ga2/isa/instruction.h"

namespace capra::ga2 {
namespace {

Failure refuse(std::string message, std::string help) {
  return fail("placement-impossible", std::move(message), {}, std::move(help));
}

std::string node_text(NodeIndex node) { return "node " + number_text(node); }

class Placer {
 public:
  explicit Placer(const Network& network) : network_(network), users_(network.users()) {
    placed_.places.resize(network.nodes().size());
    placed_.has_fused_relu.resize(network.nodes().size());
  }

  Result<Places> run() {
    CAPRA_TRY(fuse_relus());
    for (NodeIndex i = network_.size(); i-- > 0;) CAPRA_TRY(place_with_consumers(i));
    CAPRA_TRY(place_slices());
    for (NodeIndex i = 0; i < network_.size(); ++i) {
      const NetworkNode& node = network_.node(i);
      if (node.op == NodeOp::Argmax) place_of(i) = {new_buffer(node.shape.rows), 0};
    }
    CAPRA_TRY(check_narrow_weights());
    find_last_uses();
    return std::move(placed_);
  }

 private:
  Place& place_of(NodeIndex node) { return placed_.places[static_cast<size_t>(node)]; }
  bool is_placed(NodeIndex node) { return place_of(node).buffer >= 0; }

  int64_t new_buffer(int64_t words) {
    placed_.buffer_words.push_back(words);
    return std::ssize(placed_.buffer_words) - 1;
  }

  Status fuse_relus() {
    for (const NetworkNode& node : network_.nodes()) {
      if (node.op != NodeOp::Relu) continue;
      const NodeIndex source = node.operands[0];
      const NodeOp op = network_.node(source).op;
      if (op != NodeOp::Matmul || users_[static_cast<size_t>(source)].size() != 1) {
        return refuse("relu on " + node_text(source) + " (" + std::string(node_op_name(op)) +
                          ") cannot be fused into a requantizer",
                      "let the relu follow a matmul that nothing else uses");
      }
      placed_.has_fused_relu[static_cast<size_t>(source)] = true;
    }
    return {};
  }

  // A node whose consumer has not given it a place gets a buffer; then it gives its operands
  // theirs.
  Status place_with_consumers(NodeIndex index) {
    const NetworkNode& node = network_.node(index);
    if (node.op == NodeOp::Output || node.op == NodeOp::Argmax || node.op == NodeOp::Slice)
      return {};
    if (!is_placed(index)) place_of(index) = {new_buffer(buffer_words(node)), 0};
    if (node.op == NodeOp::Relu) place_of(node.operands[0]) = place_of(index);
    if (node.op != NodeOp::Concat) return {};
    const Place whole = place_of(index);
    int64_t row = whole.row;
    for (const NodeIndex part : node.operands) {
      if (is_placed(part)) {
        return refuse(node_text(part) + " feeds two concatenations",
                      "concatenate a copy, made by an op, or restructure the graph");
      }
      place_of(part) = {whole.buffer, row};
      row += network_.node(part).shape.rows;
    }
    return {};
  }

  // Unpacking writes whole words' values.
  static int64_t buffer_words(const NetworkNode& node) {
    const int64_t words = node.shape.words();
    if (node.op != NodeOp::Weight || node.bits == 8) return words;
    return packed_words(words) * kPackedValues;
  }

  Status place_slices() {
    for (NodeIndex i = 0; i < network_.size(); ++i) {
      const NetworkNode& node = network_.node(i);
      if (node.op != NodeOp::Slice) continue;
      for (const NodeIndex user : users_[static_cast<size_t>(i)]) {
        const NodeOp op = network_.node(user).op;
        if (op == NodeOp::Concat || op == NodeOp::Relu) {
          return refuse(
              node_text(i) +
                  ": a slice cannot feed a concatenation or a relu (it would need a copy)",
              "compute with the slice first");
        }
      }
      const Place source = place_of(node.operands[0]);
      place_of(i) = {source.buffer, source.row + node.start};
    }
    return {};
  }

  // Both have a scale that such a weight cannot take; unpacking also writes beyond a part.
  Status check_narrow_weights() const {
    for (const NetworkNode& node : network_.nodes()) {
      if (node.op != NodeOp::Concat && node.op != NodeOp::Softmax) continue;
      for (const NodeIndex operand : node.operands) {
        if (!network_.is_narrow(operand)) continue;
        return refuse(
            node_text(operand) +
                ": a weight of 4 bits cannot feed a concatenation or a softmax (its scale "
                "is its own)",
            "give the weight 8 bits");
      }
    }
    return {};
  }

  void use(NodeIndex tensor, NodeIndex by) {
    const int64_t buffer = place_of(tensor).buffer;
    if (buffer < 0) return;
    const auto found = std::ranges::find(placed_.last_uses, buffer, &LastUse::buffer);
    if (found == placed_.last_uses.end()) {
      placed_.last_uses.push_back({buffer, by});
    } else {
      found->node = std::max(found->node, by);
    }
  }

  void find_last_uses() {
    for (NodeIndex i = 0; i < network_.size(); ++i) {
      const NetworkNode& node = network_.node(i);
      if (node.op == NodeOp::Input || node.op == NodeOp::Weight) continue;
      use(i, i);
      for (const NodeIndex operand : node.operands) use(operand, i);
    }
  }

  const Network& network_;
  std::vector<std::vector<NodeIndex>> users_;
  Places placed_;
};

}  // namespace

Result<Places> place(const Network& network) { return Placer(network).run(); }

}  // namespace capra::ga2
