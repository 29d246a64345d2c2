// From the outputs back: every op but a product's second operand works row by row.
#include "capra/targets/ga2/schedule/needed_rows.h"

#include <algorithm>

namespace capra::ga2 {
namespace {

// A largest score of c columns has a probability of 1/c or more, the next one below it at most
// exp(-1/16) times that. In steps of 1/127 they are 127 / c (1 - exp(-1/16)) apart, which is over 1
// up to 7 columns.
constexpr int64_t kColumnsOfDistinctLevels = 7;

RowRange shifted(const RowRange& rows, int64_t by) { return {rows.begin + by, rows.end + by}; }

RowRange within(const RowRange& rows, int64_t count) {
  return {std::max<int64_t>(rows.begin, 0), std::min(rows.end, count)};
}

}  // namespace

void RowRange::include(const RowRange& other) {
  if (other.empty()) return;
  if (empty()) {
    *this = other;
    return;
  }
  begin = std::min(begin, other.begin);
  end = std::max(end, other.end);
}

Needs needs_of_outputs(const Network& network) {
  Needs needs;
  needs.rows.resize(network.nodes().size());
  needs.operands.reserve(network.nodes().size());
  for (const NetworkNode& node : network.nodes()) {
    needs.operands.push_back(node.operands);
    if (node.op != NodeOp::Argmax) continue;
    const NetworkNode& source = network.node(node.operands[0]);
    if (source.op == NodeOp::Softmax && source.shape.columns <= kColumnsOfDistinctLevels) {
      needs.operands.back() = source.operands;
    }
  }
  for (NodeIndex i = network.size(); i-- > 0;) {
    const NetworkNode& node = network.node(i);
    RowRange& rows = needs.rows[static_cast<size_t>(i)];
    if (node.op == NodeOp::Output) rows = {0, node.shape.rows};
    if (rows.empty()) continue;
    const std::vector<NodeIndex>& operands = needs.operands[static_cast<size_t>(i)];
    const auto read = [&](size_t k, const RowRange& range) {
      needs.rows[static_cast<size_t>(operands[k])].include(range);
    };
    switch (node.op) {
      case NodeOp::Input:
      case NodeOp::Weight:
        break;
      case NodeOp::Matmul:
        read(0, rows);
        read(1, {0, network.node(operands[1]).shape.rows});
        break;
      case NodeOp::Concat: {
        const int64_t first = network.node(operands[0]).shape.rows;
        read(0, within(rows, first));
        read(1, within(shifted(rows, -first), node.shape.rows - first));
        break;
      }
      case NodeOp::Slice:
        read(0, shifted(rows, node.start));
        break;
      case NodeOp::Softmax:
      case NodeOp::Add:
      case NodeOp::Relu:
      case NodeOp::Argmax:
      case NodeOp::Output:
        for (size_t k = 0; k < operands.size(); ++k) read(k, rows);
        break;
    }
  }
  return needs;
}

}  // namespace capra::ga2
