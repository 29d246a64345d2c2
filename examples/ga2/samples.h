// What the examples of this folder share.
#pragma once

#include <string>
#include <vector>

#include "capra/targets/ga2/sim/run.h"
#include "tests/targets/ga2/battery/random_network.h"

namespace capra::ga2 {

/// One for the graph's inputs, in their order, of deviation 1.
Sample normal_sample(const Network& network, PythonRandom& random);
std::vector<Sample> normal_samples(const Network& network, PythonRandom& random, int count);

/// The column of an output of indices, from the integers or from real numbers: `[2, 2, 1]`.
std::string column_text(const Matrix<int32_t>& indices);
std::string column_text(const Matrix<double>& indices);

/// The value of an output in real numbers.
Matrix<double> real_output(const Network& network, const Sample& sample, const std::string& name);

}  // namespace capra::ga2
