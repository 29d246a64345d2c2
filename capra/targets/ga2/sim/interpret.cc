// Two readings of a compiled graph beside its program: in exact integers, and in real numbers stage
// by stage.
#include <algorithm>
#include <cmath>
#include <utility>

#include "capra/base/number_text.h"
#include "capra/targets/ga2/sim/run.h"

namespace capra::ga2 {
namespace {

using Levels = Matrix<int32_t>;

Levels quantized(const Matrix<double>& values, double scale) {
  Levels levels(values.rows, values.columns);
  std::ranges::transform(values.values, levels.values.begin(),
                         [&](double value) { return quantize(value, scale); });
  return levels;
}

class Interpreter {
 public:
  Interpreter(const Program& program, const Sample& sample) : program_(program), sample_(sample) {}

  std::vector<Levels> run() {
    for (NodeIndex i = 0; i < program_.network.size(); ++i) values_.push_back(value(i));
    return std::move(values_);
  }

 private:
  const Levels& operand(const NetworkNode& node, size_t index) const {
    return values_[static_cast<size_t>(node.operands[index])];
  }

  Levels value(NodeIndex index) const {
    const NetworkNode& node = program_.network.node(index);
    switch (node.op) {
      case NodeOp::Input:
        return quantized(sample_.at(node.name), program_.scale(index));
      case NodeOp::Weight:
        return quantized(node.weights, program_.scale(index));
      case NodeOp::Matmul:
        return matmul(index);
      case NodeOp::Softmax:
        return softmax(index);
      case NodeOp::Add:
        return add(index);
      case NodeOp::Relu:
      case NodeOp::Output:
        return operand(node, 0);
      case NodeOp::Concat:
        return concatenated(operand(node, 0), operand(node, 1));
      case NodeOp::Slice:
        return rows_of(operand(node, 0), node.start, node.shape.rows);
      case NodeOp::Argmax:
        return argmax_rows(operand(node, 0));
    }
    CAPRA_CHECK(false);
  }

  Levels matmul(NodeIndex index) const {
    const NetworkNode& node = program_.network.node(index);
    const Requantizer& by = *program_.requantizer(index);
    Levels result = product(operand(node, 0), operand(node, 1), node.transpose_b);
    for (int32_t& value : result.values) value = requantize(value, by.factor, by.relu);
    return result;
  }

  Levels softmax(NodeIndex index) const {
    const Levels& scores = operand(program_.network.node(index), 0);
    const Requantizer& by = *program_.requantizer(index);
    Levels result(scores.rows, scores.columns);
    std::vector<uint32_t> fractions(static_cast<size_t>(scores.columns));
    for (int64_t i = 0; i < scores.rows; ++i) {
      softmax_row(scores.row(i), fractions);
      for (int64_t j = 0; j < scores.columns; ++j) {
        const auto fraction = static_cast<int32_t>(fractions[static_cast<size_t>(j)]);
        result.at(i, j) = requantize(fraction, by.factor, false);
      }
    }
    return result;
  }

  Levels add(NodeIndex index) const {
    const NetworkNode& node = program_.network.node(index);
    Levels result(node.shape.rows, node.shape.columns);
    const Requantizer* const by[] = {program_.requantizer(index, 0),
                                     program_.requantizer(index, 1)};
    for (size_t i = 0; i < result.values.size(); ++i) {
      int32_t sum = 0;
      for (size_t k = 0; k < 2; ++k) {
        const int32_t level = operand(node, k).values[i];
        sum += by[k] == nullptr ? level : requantize(level, by[k]->factor, false);
      }
      result.values[i] = clamp_level(sum);
    }
    return result;
  }

  const Program& program_;
  const Sample& sample_;
  std::vector<Levels> values_;
};

// The real numbers that a tensor's levels stand for.
Matrix<double> dequantized(const Levels& levels, double scale) {
  Matrix<double> values(levels.rows, levels.columns);
  std::ranges::transform(levels.values, values.values.begin(),
                         [&](int32_t level) { return level * scale; });
  return values;
}

}  // namespace

std::vector<Levels> interpret(const Program& program, const Sample& sample) {
  return Interpreter(program, sample).run();
}

std::vector<std::string> stage_problems(const Program& program,
                                        const std::vector<Levels>& integers) {
  std::vector<std::string> problems;
  for (NodeIndex i = 0; i < program.network.size(); ++i) {
    const NetworkNode& node = program.network.node(i);
    const auto tolerated = static_cast<int32_t>(levels_off(node.op));
    if (tolerated == 0) continue;  // nothing is computed
    std::vector<Matrix<double>> operands;
    std::vector<const Matrix<double>*> pointers;
    operands.reserve(node.operands.size());
    pointers.reserve(node.operands.size());
    for (const NodeIndex operand : node.operands) {
      operands.push_back(
          dequantized(integers[static_cast<size_t>(operand)], program.scale(operand)));
    }
    for (const Matrix<double>& operand : operands) pointers.push_back(&operand);
    const Matrix<double> real = evaluate_node(node, pointers);
    const bool relu = program.has_fused_relu[static_cast<size_t>(i)];
    const Levels& found = integers[static_cast<size_t>(i)];
    int64_t bad = 0;
    for (size_t at = 0; at < real.values.size(); ++at) {
      const int32_t level = quantize(real.values[at], program.scale(i));
      const int32_t wanted = relu ? std::max(0, level) : level;
      if (std::abs(found.values[at] - wanted) > tolerated) ++bad;
    }
    if (bad > 0) {
      problems.push_back("node " + number_text(i) + " (" + std::string(node_op_name(node.op)) +
                         "): " + number_text(bad) + " values more than " + number_text(tolerated) +
                         " level(s) from the real-number result");
    }
  }
  return problems;
}

}  // namespace capra::ga2
