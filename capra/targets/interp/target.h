// The double-precision oracle as a target.
#pragma once

#include "capra/runtime/target.h"

namespace capra::interp {

extern const Target kTarget;

}  // namespace capra::interp
