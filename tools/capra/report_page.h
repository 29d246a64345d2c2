// The report of an exported program as one page for a browser.
#pragma once

#include <string>

#include "capra/io/json.h"
#include "capra/ir/graph.h"

namespace capra::driver {

/// HTML that needs no other file and no network: the facts of `report`, and a drawing of `graph`,
/// the traced model, that folds by module.
std::string report_page(const Json& report, const Graph& graph);

}  // namespace capra::driver
