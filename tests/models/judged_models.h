// Two models with seeded weights that every road is judged on: graph text, weights and inputs are
// made here, and the oracle's results are the reference.
#pragma once

#include <map>
#include <string>

#include "capra/ir/graph.h"
#include "capra/ir/parameters.h"

namespace capra::testing {

struct JudgedModel {
  Graph graph;
  Parameters parameters;
  std::map<std::string, Array> inputs;
};

/// BERT blocks that end in a decision: 22 layers, hidden 128, 4 heads, intermediate 512, exact
/// GELU, 32 tokens; then row 0, a linear layer of 128 with GELU, and one of 3. Output `decision`
/// [1, 3]. Seed and scale of the weights are such that the tanh form of GELU moves an output by
/// 2.5e-4 or more.
JudgedModel decision_head();

/// A small encoder of any length with the inputs `ids` and `token_types`: two segments, the second
/// of type 1. Output `hidden` [tokens, 96].
JudgedModel two_segments();

/// The greatest difference of two arrays of one shape.
double max_difference(const Array& a, const Array& b);

}  // namespace capra::testing
