// The cpu target: this machine, with the kernels of the best instruction set it has.
#pragma once

#include "capra/runtime/target.h"
#include "capra/targets/cpu/isa/isa.h"

namespace capra::cpu {

extern const Target kTarget;

/// The same target with the kernels of one instruction set, for comparing them; null if this
/// machine or build has none.
const Target* target_for(kernels::Isa isa);

}  // namespace capra::cpu
