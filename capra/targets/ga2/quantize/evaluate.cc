// One op after the other, as a reader of the graph would compute by hand.
#include "capra/targets/ga2/quantize/evaluate.h"

#include <algorithm>
#include <cmath>

namespace capra::ga2 {
namespace {

using Values = Matrix<double>;

Values softmax_rows(const Values& x) {
  Values result(x.rows, x.columns);
  for (int64_t i = 0; i < x.rows; ++i) {
    const double most = std::ranges::max(x.row(i));
    double sum = 0;
    for (int64_t j = 0; j < x.columns; ++j) {
      result.at(i, j) = std::exp(x.at(i, j) - most);
      sum += result.at(i, j);
    }
    for (int64_t j = 0; j < x.columns; ++j) result.at(i, j) /= sum;
  }
  return result;
}

}  // namespace

Values evaluate_node(const NetworkNode& node, std::span<const Values* const> operands) {
  switch (node.op) {
    case NodeOp::Weight:
      return node.weights;
    case NodeOp::Matmul: {
      Values result = product(*operands[0], *operands[1], node.transpose_b);
      for (double& value : result.values) value *= node.factor;
      return result;
    }
    case NodeOp::Softmax:
      return softmax_rows(*operands[0]);
    case NodeOp::Add: {
      Values result = *operands[0];
      for (size_t i = 0; i < result.values.size(); ++i) result.values[i] += operands[1]->values[i];
      return result;
    }
    case NodeOp::Relu: {
      Values result = *operands[0];
      for (double& value : result.values) value = std::max(0.0, value);
      return result;
    }
    case NodeOp::Concat:
      return concatenated(*operands[0], *operands[1]);
    case NodeOp::Slice:
      return rows_of(*operands[0], node.start, node.shape.rows);
    case NodeOp::Argmax:
      return argmax_rows(*operands[0]);
    case NodeOp::Output:
      return *operands[0];
    case NodeOp::Input:
      break;
  }
  CAPRA_CHECK(false);
}

std::vector<Values> evaluate(const Network& network, const Sample& sample) {
  std::vector<Values> values;
  values.reserve(network.nodes().size());
  for (const NetworkNode& node : network.nodes()) {
    std::vector<const Values*> operands;
    operands.reserve(node.operands.size());
    for (const NodeIndex operand : node.operands) {
      operands.push_back(&values[static_cast<size_t>(operand)]);
    }
    values.push_back(node.op == NodeOp::Input ? sample.at(node.name)
                                              : evaluate_node(node, operands));
  }
  return values;
}

Status check_sample(const Network& network, const Sample& sample, const std::string& what) {
  for (const NetworkNode& node : network.nodes()) {
    if (node.op != NodeOp::Input) continue;
    const auto found = sample.find(node.name);
    if (found == sample.end()) {
      return fail("sample-invalid", "there is no matrix for input " + node.name, what,
                  "give one for every input");
    }
    const Extents shape{found->second.rows, found->second.columns};
    if (shape != node.shape) {
      return fail("sample-invalid",
                  "input " + node.name + " has shape " + extents_text(shape) +
                      ", the graph needs " + extents_text(node.shape),
                  what);
    }
    if (!std::ranges::all_of(found->second.values, [](double x) { return std::isfinite(x); })) {
      return fail("sample-invalid", "input " + node.name + " has a value that is not finite", what,
                  "levels can only be chosen for finite values");
    }
  }
  return {};
}

}  // namespace capra::ga2
