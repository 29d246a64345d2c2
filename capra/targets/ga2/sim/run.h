// A compiled graph on the simulated chip, and its integers read in two other ways.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "capra/targets/ga2/emit/program.h"
#include "capra/targets/ga2/sim/machine.h"

namespace capra::ga2 {

/// One output of a run.
struct Output {
  Matrix<int32_t> integers;  ///< levels; of an argmax, indices
  Matrix<double> values;     ///< levels times the scale; of an argmax, the indices
};

struct Run {
  std::map<std::string, Output> outputs;  ///< by name
  Counters counters;
  std::vector<uint32_t> scratchpad;
};

/// A sample of zeros.
Sample zero_sample(const Network& network);

/// External memory before a run: the weights, and the sample's inputs, at their scales; the rest 0.
/// Fails as `check_sample`.
Result<std::vector<uint32_t>> external_image(const Program& program, const Sample& sample);

/// Runs the program on the simulator. Fails as `external_image`.
Result<Run> run(const Program& program, const Sample& sample,
                const Machine::Observer& observe = nullptr);

/// Every node's integers by the meaning of its op: no instructions, no tiles and no addresses; only
/// the arithmetic, the scales and the requantizers are the program's. The sample fits the graph.
std::vector<Matrix<int32_t>> interpret(const Program& program, const Sample& sample);

/// Whether every tensor lies within one level (a sum: two, its operands may be rescaled) of its
/// op's real-number result, computed from the operands' integers: a line for each node that does
/// not. Uses the scales alone, not the requantizers.
std::vector<std::string> stage_problems(const Program& program,
                                        const std::vector<Matrix<int32_t>>& integers);

/// What differs between the outputs and the graph in real numbers: the largest over the outputs of
/// the norm of the difference over the norm of the real one. Indices do not count. Infinite where a
/// real number is not finite.
double relative_error(const Program& program, const Run& run, const Sample& sample);

}  // namespace capra::ga2
