// Compiles the including .cc once for every instruction set. Before including this, define
// HWY_TARGET_INCLUDE as the file's own path. Only .cc files of this folder do so.
#pragma once

#include "capra/targets/cpu/kernels/isa_choice.h"
// Must follow isa_choice.h, which says what to leave out.
#include <hwy/foreach_target.h>
