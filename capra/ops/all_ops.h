// The list of all records.
#pragma once

#include "capra/ir/op_def.h"

namespace capra {

/// Every op, sorted by name: primitives and composites. Structural records are not in it.
OpSet all_ops();

}  // namespace capra
