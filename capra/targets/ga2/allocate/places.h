// Which tensors share a buffer, where each lies in it, and how long each buffer is needed.
#pragma once

#include <cstdint>
#include <vector>

#include "capra/targets/ga2/network.h"

namespace capra::ga2 {

/// Where a tensor lives: from row `row` of a buffer.
struct Place {
  int64_t buffer = -1;  ///< -1: nowhere (an output)
  int64_t row = 0;
  bool operator==(const Place&) const = default;
};

/// The last node that reads or writes a buffer.
struct LastUse {
  int64_t buffer = 0;
  NodeIndex node = 0;
};

struct Places {
  std::vector<Place> places;          ///< by node
  std::vector<int64_t> buffer_words;  ///< by buffer
  std::vector<LastUse> last_uses;     ///< in the order in which buffers are first used
  std::vector<bool> has_fused_relu;   ///< by node: a matmul whose relu is its requantizer's
};

/// Gives every tensor its place, consumers first: the parts of a concatenation lie in its buffer,
/// both sides of a relu share one place, and a slice is a view. Fails with `placement-impossible`
/// where a tensor would have to be in two places, a relu follows no matmul of its own, or a weight
/// of 4 bits feeds a concatenation or a softmax.
Result<Places> place(const Network& network);

}  // namespace capra::ga2
