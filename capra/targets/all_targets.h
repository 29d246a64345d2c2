// The targets that are built in.
#pragma once

#include "capra/runtime/target.h"

namespace capra {

/// Every built-in target, sorted by name.
TargetSet all_targets();

}  // namespace capra
