// Random valid graphs: every op of an encoder, and what the passes look for, in random order.
#pragma once

#include <cstdint>

#include "capra/ir/graph.h"

namespace capra::testing {

inline constexpr int64_t kRandomGraphRows = 7;  ///< of every gathered table: the bound of indices

/// The same graph for the same seed. Symbols: `tokens`, in every second graph. Every fourth graph
/// is plain: arithmetic and movement of data, with every value among the outputs.
Graph random_graph(uint64_t seed);

}  // namespace capra::testing
