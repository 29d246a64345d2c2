// An executable that runs a plan: for targets whose ops are steps in this process.
#pragma once

#include <memory>

#include "capra/runtime/executable.h"
#include "capra/runtime/plan.h"

namespace capra {

/// Runs plans of `graph`'s ports.
std::unique_ptr<Executable> make_planned_executable(const Graph& graph, Plan plan);

}  // namespace capra
