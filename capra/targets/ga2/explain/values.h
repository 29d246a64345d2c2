// Which values a program keeps in the scratchpad, where, and for how long.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capra/targets/ga2/emit/program.h"

namespace capra::ga2 {

enum class ValueKind : uint8_t {
  Loaded,     ///< an input or weight; packed words too
  Sums,       ///< of a product, 32 bits each
  Fractions,  ///< of a softmax
  Rescaled,   ///< an operand of a sum at its scale
  Result,     ///< of a node
};

/// Written by one or more instructions, from `first` on; `last` is the last instruction that reads
/// or writes it. Its words lie from `address` to address + words - 1.
struct KeptValue {
  std::string name;
  ValueKind kind = ValueKind::Result;
  int64_t address = 0;
  int64_t words = 0;
  size_t first = 0;
  size_t last = 0;
};

/// In the order in which they are first written.
std::vector<KeptValue> kept_values(const Program& program);

/// The name of an input, weight or output; else `%4`.
std::string node_label(const Network& network, NodeIndex node);

/// For each instruction the node for which it computes: of the results of products, softmaxes and
/// sums that of the requantizer or sum that follows. -1 for loads, stores and HALT.
std::vector<NodeIndex> computed_nodes(const Program& program);

}  // namespace capra::ga2
