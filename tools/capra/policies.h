// Dtype policies and schedule hints of the command line.
#pragma once

#include "capra/ir/graph.h"
#include "capra/passes/pass.h"
#include "tools/capra/command.h"

namespace capra::driver {

/// The graph with what was stated about its ops; `report` grows. Fails as the passes do.
Result<Graph> apply_policies(Graph graph, const PolicyOptions& options, std::string_view target,
                             PassReport& report);

}  // namespace capra::driver
