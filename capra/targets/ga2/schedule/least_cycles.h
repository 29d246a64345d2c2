// What the machine takes at least for a graph.
#pragma once

#include "capra/targets/ga2/emit/program.h"

namespace capra::ga2 {

/// The cycles that no program of the graph stays under which computes every result that an output
/// needs by its op and its requantizer, product by product: one load of all words that outputs are
/// made of and one store of all that they are, each once; the fewest tiles; requantizers that
/// change no level, or only weights, left out; no word moved twice. A program may need more because
/// not all fits at once or lies side by side. `network` was placed (`place`).
Result<int64_t> least_cycles(const Network& network, const ScalePlan& plan, const Places& places);

}  // namespace capra::ga2
