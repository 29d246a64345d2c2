// Random numbers are drawn in the order in which the published scripts draw them.
#include "examples/ga2/samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace capra::ga2 {

Sample normal_sample(const Network& network, PythonRandom& random) {
  Sample sample;
  for (const NetworkNode& node : network.nodes()) {
    if (node.op == NodeOp::Input) sample[node.name] = normal_matrix(random, node.shape, 1);
  }
  return sample;
}

std::vector<Sample> normal_samples(const Network& network, PythonRandom& random, int count) {
  std::vector<Sample> samples;
  samples.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) samples.push_back(normal_sample(network, random));
  return samples;
}

std::string column_text(const Matrix<int32_t>& indices) {
  return fmt::format("[{}]", fmt::join(indices.values, ", "));
}

std::string column_text(const Matrix<double>& indices) {
  return fmt::format("[{:.0f}]", fmt::join(indices.values, ", "));
}

Matrix<double> real_output(const Network& network, const Sample& sample, const std::string& name) {
  const auto node = std::ranges::find_if(network.nodes(), [&](const NetworkNode& one) {
    return one.op == NodeOp::Output && one.name == name;
  });
  return evaluate(network, sample)[static_cast<size_t>(node - network.nodes().begin())];
}

}  // namespace capra::ga2
