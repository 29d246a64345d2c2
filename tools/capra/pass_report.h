// What passes did, as rows of JSON.
#pragma once

#include <vector>

#include "capra/io/json.h"
#include "capra/passes/pass.h"

namespace capra::driver {

/// One row for each run of a pass that changed something, in order.
Json changes_json(const std::vector<PassChange>& changes);
/// One row for each rewrite of a node, in order.
Json rewrites_json(const std::vector<Rewrite>& rewrites);

}  // namespace capra::driver
