// The target that writes StableHLO programs.
#pragma once

#include "capra/runtime/target.h"

namespace capra::stablehlo {

extern const Target kTarget;

}  // namespace capra::stablehlo
