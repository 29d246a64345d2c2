// The checks of the published battery on one compiled graph.
#pragma once

#include <string>
#include <vector>

#include "capra/targets/ga2/isa/instruction.h"
#include "tests/targets/ga2/battery/random_network.h"

namespace capra::ga2 {

struct CheckResult {
  std::vector<std::string> problems;  ///< each begins with the letter of its check
  double error = 0;                   ///< relative, of the outputs, against real numbers
  Counters counters;                  ///< of the program with reuse
  int64_t instructions = 0;
  int64_t scratchpad_high = 0;       ///< with reuse
  int64_t scratchpad_high_kept = 0;  ///< where every buffer keeps its place
};

/// Compiles the case with and without reuse of buffers, runs both programs on its test sample, and
/// checks: (a) both give the same outputs; (b) they are the interpreter's integers; (c) so is every
/// tensor in the scratchpad where nothing is reused; (d) every tensor lies within a level of its
/// op's real-number meaning; (e) the relative error is at most `bound`.
CheckResult check_case(const Case& one, double bound);

/// The largest error that check (e) lets pass in the seeds 0 to 59 of a kind. It is published for
/// graphs (twice the worst error of these 60) and for slices; for weights of 4 bits nothing is, and
/// twice the worst of the 60 is taken, as for graphs.
double error_bound(CaseKind kind);

}  // namespace capra::ga2
