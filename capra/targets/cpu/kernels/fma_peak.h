// The rate of fused multiply-adds this processor reaches on an instruction set: what a benchmark's
// figures are a share of. Measure it in the same run; clocks and neighbours change.
#pragma once

#include <cstddef>

#include "capra/targets/cpu/isa/isa.h"

namespace capra::kernels {

/// One instruction set's loop of independent fused multiply-adds.
struct PeakKernels {
  size_t flops_per_step = 0;  ///< floating-point operations, two a multiply-add
  /// Runs `steps` steps; the result depends on all of them.
  float (*burst)(size_t steps) = nullptr;
};

/// The best rate, in floating-point operations a second on the calling thread, over windows of
/// about 1 ms that together last `seconds`. 0 if this machine does not run `isa`.
double measure_fma_peak(Isa isa, double seconds);

}  // namespace capra::kernels
