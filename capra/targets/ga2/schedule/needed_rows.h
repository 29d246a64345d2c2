// What the outputs of a graph are made of.
#pragma once

#include <vector>

#include "capra/targets/ga2/network.h"

namespace capra::ga2 {

/// Rows `begin` to one before `end`.
struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t count() const { return end - begin; }
  bool empty() const { return end <= begin; }
  /// Makes it hold the rows of `other` too, and what lies between.
  void include(const RowRange& other);
  bool operator==(const RowRange&) const = default;
};

struct Needs {
  /// By node: the operands that it is computed from. Those of the graph, but an argmax of a softmax
  /// of at most 7 columns reads the scores: there different scores never become one level.
  std::vector<std::vector<NodeIndex>> operands;
  std::vector<RowRange> rows;  ///< by node: from the first to the last that an output is made of
};

Needs needs_of_outputs(const Network& network);

}  // namespace capra::ga2
