// Random graphs of every op on everything that is there: what the published battery never makes,
// such as outputs of inputs, views of views, and graphs that are refused.
#pragma once

#include "tests/targets/ga2/battery/random_network.h"

namespace capra::ga2 {

/// The same seed makes the same graph, of up to some 30 nodes, with 2 samples to calibrate with.
/// Half of the graphs are small; the others nearly fill the memories or do not fit.
Case wild_case(int64_t seed);

}  // namespace capra::ga2
