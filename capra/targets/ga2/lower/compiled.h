// An ordinary graph as a program of the chip, with what must be said of its numbers.
#pragma once

#include <string>
#include <vector>

#include "capra/runtime/target.h"
#include "capra/targets/ga2/emit/program.h"
#include "capra/targets/ga2/lower/lower.h"

namespace capra::ga2 {

struct CompiledGraph {
  Lowered lowered;  ///< its graph has a note of each tensor that is rounded to levels
  Program program;
  std::vector<Sample> samples;  ///< by which the scales were chosen, one or more
  CompileOptions options;       ///< what the file says beside them
  /// The largest `relative_error` of the program on these samples.
  double error = 0;
  PassReport report;
};

/// Runs the target's passes on a traced graph, lowers it, chooses scales by the samples in the file
/// `options.calibration` (docs/ga2.md has its form) and compiles. Fails as the passes, `lower` and
/// `compile` do; with `calibration-missing` where no file is named, and as `read_json_file` and
/// `read_samples`.
Result<CompiledGraph> compile_graph(const Target& target, const Graph& graph,
                                    const Parameters& parameters, const WriteOptions& options,
                                    bool optimize = true);

}  // namespace capra::ga2
