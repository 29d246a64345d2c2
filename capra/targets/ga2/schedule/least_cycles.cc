// A sum over the nodes that outputs need.
#include "capra/targets/ga2/schedule/least_cycles.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "capra/targets/ga2/schedule/needed_rows.h"
#include "capra/targets/ga2/schedule/sources.h"
#include "capra/targets/ga2/tile/tiles.h"

namespace capra::ga2 {
namespace {

class Bound {
 public:
  Bound(const Network& network, const ScalePlan& plan, const Places& places)
      : network_(network), plan_(plan), places_(places), needs_(needs_of_outputs(network)) {}

  Result<int64_t> run() {
    for (NodeIndex i = 0; i < network_.size(); ++i) {
      if (!needs_.rows[static_cast<size_t>(i)].empty()) CAPRA_TRY(add(i));
    }
    if (loaded_ > 0) spend(Load{.len = word(loaded_)});
    if (!stored_.empty()) spend(Store{.len = word(std::ssize(stored_))});
    spend(Halt{});
    return cycles_;
  }

 private:
  const Place& place(NodeIndex index) const { return places_.places[static_cast<size_t>(index)]; }
  void spend(const Instruction& one) { cycles_ += cost(one).total; }

  Status add(NodeIndex index) {
    const NetworkNode& node = network_.node(index);
    const int64_t rows = needs_.rows[static_cast<size_t>(index)].count();
    const int64_t columns = node.shape.columns;
    const uint32_t len = word(rows * columns);
    CAPRA_ASSIGN(const std::vector<Requantizer> requantizers,
                 requantizers_of(network_, plan_.scales, index,
                                 places_.has_fused_relu[static_cast<size_t>(index)]));
    for (const Requantizer& one : requantizers) {
      if (one.operand && !changes_levels(one)) continue;
      const bool again = one.operand == 1 && place(node.operands[0]) == place(node.operands[1]);
      const bool is_known =
          one.operand &&
          network_.node(node.operands[static_cast<size_t>(*one.operand)]).op == NodeOp::Weight;
      if (!again && !is_known) spend(Requantize{.len = len});
    }
    switch (node.op) {
      case NodeOp::Input:
        loaded_ += len;
        break;
      case NodeOp::Weight:
        load_weight(index);
        break;
      case NodeOp::Matmul:
        for (const Tile& tile : tiles_of(rows, columns)) {
          spend(Multiply{.m = word(tile.rows),
                         .k = word(network_.node(node.operands[0]).shape.columns),
                         .n = word(tile.columns)});
        }
        break;
      case NodeOp::Softmax:
        for (int64_t row = 0; row < rows; ++row) spend(Softmax{.len = word(columns)});
        break;
      case NodeOp::Add:
        spend(Add{.len = len});
        break;
      case NodeOp::Argmax:
        for (int64_t row = 0; row < rows; ++row) {
          spend(Argmax{.len = word(network_.node(node.operands[0]).shape.columns)});
        }
        break;
      case NodeOp::Output:
        store(node.operands[0]);
        break;
      case NodeOp::Relu:
      case NodeOp::Concat:
      case NodeOp::Slice:
        break;
    }
    return {};
  }

  // Equal weights, transposed or not, are loaded once; of 4 bits, a packed word costs more to
  // unpack than its eight values to load, save for the last one.
  void load_weight(NodeIndex index) {
    const NetworkNode& node = network_.node(index);
    for (const bool transposed : {false, true}) {
      const Matrix<int32_t> levels = stored_levels(node, plan_.scales, index, transposed);
      if (weights_.contains({levels.rows, levels.values})) return;
    }
    const Matrix<int32_t> levels = stored_levels(node, plan_.scales, index, false);
    weights_.insert({levels.rows, levels.values});
    const RowRange& rows = needs_.rows[static_cast<size_t>(index)];
    loaded_ += rows.count() * node.shape.columns;
  }

  void store(NodeIndex source) {
    const Place& at = place(source);
    const Extents shape = network_.node(source).shape;
    for (int64_t i = 0; i < shape.words(); ++i) {
      stored_.insert({at.buffer, at.row * shape.columns + i});
    }
  }

  const Network& network_;
  const ScalePlan& plan_;
  const Places& places_;
  Needs needs_;
  std::set<std::pair<int64_t, std::vector<int32_t>>> weights_;
  std::set<std::pair<int64_t, int64_t>> stored_;  // words of buffers
  int64_t loaded_ = 0;
  int64_t cycles_ = 0;
};

}  // namespace

Result<int64_t> least_cycles(const Network& network, const ScalePlan& plan, const Places& places) {
  return Bound(network, plan, places).run();
}

}  // namespace capra::ga2
