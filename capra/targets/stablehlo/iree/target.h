// The target that runs StableHLO programs with IREE's tools.
#pragma once

#include "capra/runtime/target.h"

namespace capra::iree {

extern const Target kTarget;

}  // namespace capra::iree
