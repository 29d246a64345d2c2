// What passes did, as rows of JSON.
#pragma once

#include <vector>

#include "capra/io/json.h"
#include "capra/passes/pass.h"

namespace capra::driver {

/// One row for each run of a pass that changed something, in order.
Json changes_json(const std::vector<PassChange>& changes);
/// One rewrite of a node: pass, rule, node, and the forms before and after.
Json rewrite_json(const Rewrite& rewrite);
/// One row for each rewrite, in order.
Json rewrites_json(const std::vector<Rewrite>& rewrites);

}  // namespace capra::driver
