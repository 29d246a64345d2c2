// What must hold of a graph that both schedules compile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capra/targets/ga2/emit/program.h"
#include "tests/targets/ga2/battery/random_network.h"

namespace capra::ga2 {

/// Compiles the graph with both schedules and runs them on the test sample. The fast one gives the
/// same outputs, which are the interpreter's, within the memories, in fewer cycles (unless the
/// author's are the least, or nothing `must_be_saved`), not under the least ones. A line for each
/// thing that does not hold.
std::vector<std::string> schedule_problems(const Network& network,
                                           std::span<const Sample> calibration,
                                           CompileOptions options, const Sample& test,
                                           bool must_be_saved = true);

/// The same of a graph that may be refused: none where both schedules refuse it. Where the fast one
/// alone compiles it, its outputs are the interpreter's.
std::optional<std::vector<std::string>> wild_problems(const Case& one);

}  // namespace capra::ga2
