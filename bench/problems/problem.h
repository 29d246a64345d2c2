// Problems as text: what the benchmarks time is what the test compares with the oracle.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "capra/ir/array.h"
#include "capra/ir/graph.h"
#include "capra/ir/parameters.h"

namespace capra::bench {

/// One line of problems.txt with one value for each name.
struct Problem {
  std::string name;  ///< `linear/rows=12/in=384/out=1152`
  double error = 0;  ///< the most that a result may differ from the oracle
  Graph graph;       ///< static shapes; only `offsets` has a symbol
  Parameters parameters;
  std::vector<Array> inputs;
};

/// A line that is not expanded into data yet.
struct ProblemLine {
  std::string graph;                                        ///< name of the .tir file
  std::vector<std::pair<std::string, std::string>> values;  ///< one value for each name
  double error = 0;

  std::string name() const;
};

/// The lines of `folder`/problems.txt, a list of values spread over lines of its own. Throws
/// `Error` (`text-syntax`, `file-not-found`) with the line.
std::vector<ProblemLine> read_problem_lines(const std::string& folder);

/// The graph of a line with seeded data: floats in [-1, 1), weights such that a product is a few
/// units large, `offsets` that cut tokens evenly. Throws `Error` as the graph's parser does.
Problem make_problem(const std::string& folder, const ProblemLine& line);

}  // namespace capra::bench
