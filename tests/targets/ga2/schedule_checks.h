// What must hold of a graph that both schedules compile.
#pragma once

#include <string>
#include <vector>

#include "capra/targets/ga2/emit/program.h"

namespace capra::ga2 {

/// Compiles the graph with both schedules and runs them on the test sample. The fast one gives the
/// same outputs, which are the interpreter's, in fewer cycles (unless the author's are the least),
/// not under the least ones, within the memories. A line for each thing that does not hold.
std::vector<std::string> schedule_problems(const Network& network,
                                           std::span<const Sample> calibration,
                                           CompileOptions options, const Sample& test);

}  // namespace capra::ga2
