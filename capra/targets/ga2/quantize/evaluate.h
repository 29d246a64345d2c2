// The graph in real numbers: what its integers stand for.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "capra/targets/ga2/network.h"

namespace capra::ga2 {

/// One matrix for each input, by name.
using Sample = std::map<std::string, Matrix<double>>;

/// Every node's value in double precision: sums from left to right, no fused steps. The sample has
/// a finite matrix of the right shape for every input (`check_sample`).
std::vector<Matrix<double>> evaluate(const Network& network, const Sample& sample);

/// The value of one node that is no input, from those of its operands.
Matrix<double> evaluate_node(const NetworkNode& node,
                             std::span<const Matrix<double>* const> operands);

/// Fails with `sample-invalid` for an input that is missing, of another shape or not finite; `what`
/// names the sample.
Status check_sample(const Network& network, const Sample& sample, const std::string& what);

}  // namespace capra::ga2
