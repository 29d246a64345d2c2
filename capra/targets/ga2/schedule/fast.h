// The schedule that takes fewer cycles than the author's, with the same outputs.
#pragma once

#include "capra/targets/ga2/emit/program.h"

namespace capra::ga2 {

/// Only what outputs are made of is loaded and computed, in as few instructions as the memories
/// allow. Fails with `memory-full`, `inner-dimension-too-large`, `multiplier-out-of-range` and
/// `placement-impossible`.
Result<Program> compile_fast(const Network& network, const ScalePlan& plan, const Places& places,
                             int64_t external_words);

}  // namespace capra::ga2
