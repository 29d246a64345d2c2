// Modules that are written, read back and computed by the oracle.
#pragma once

#include <string>
#include <vector>

#include "capra/targets/stablehlo/emit.h"
#include "capra/targets/stablehlo/read/import.h"

namespace capra::stablehlo {

/// The text of the graph's module, read back: fails the test where the module is not valid, or its
/// text does not read or prints other bytes.
Module read_back(const Graph& graph, const EmitOptions& options);

/// The outputs of the module's function for these inputs, on the oracle, in order.
Result<std::vector<Array>> compute(const Module& module, const std::vector<Array>& inputs,
                                   ImportOptions options);

}  // namespace capra::stablehlo
