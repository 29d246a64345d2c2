// The approximations that a user can ask for by name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "capra/passes/pass.h"

namespace capra {

/// Runs the approximations called `names` (`gelu=tanh`) on `graph`, in order. They come before both
/// eager and optimized execution, so that these stay bit-equal. `report`, if given, receives what
/// was done. Fails with `approximation-unknown`.
Result<Graph> approximate(Graph graph, std::span<const std::string> names, std::string_view target,
                          PassReport* report = nullptr);

}  // namespace capra
