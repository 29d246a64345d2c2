// What a written module says of schedules.
#pragma once

#include "capra/base/result.h"
#include "capra/ir/graph.h"
#include "capra/targets/stablehlo/module.h"

namespace capra::stablehlo {

/// The value of `skainet.schedule`: for each node with hints, by its label in first order, a
/// dictionary of ops to hints.
Result<Dictionary> schedule_attribute(const Graph& graph);

}  // namespace capra::stablehlo
