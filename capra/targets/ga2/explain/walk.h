// What the compiler decided for a graph, pass by pass, in words.
#pragma once

#include <string>
#include <vector>

#include "capra/targets/ga2/network_json.h"

namespace capra::ga2 {

/// One pass.
struct Chapter {
  std::string title;
  std::vector<std::string> lines;
};

/// The graph, ranges, scales, requantizers, tiles, allocation and instructions of a program that
/// was made of the request; then, where the request has a test sample, the checks of a run on it.
/// `without_reuse` is the same graph with every buffer in a place of its own, or why there is none.
/// Fails as `run`.
Result<std::vector<Chapter>> walk(const CompileRequest& request, const Program& program,
                                  const Result<Program>& without_reuse);

}  // namespace capra::ga2
