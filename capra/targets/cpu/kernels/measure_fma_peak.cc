// Times the loop of fma_peak.cc.
#include <algorithm>
#include <chrono>

#include "capra/targets/cpu/kernels/fma_peak.h"
#include "capra/targets/cpu/kernels/kernel_table.h"

namespace capra::kernels {

double measure_fma_peak(Isa isa, double seconds) {
  const KernelTable* table = kernel_table(isa);
  if (table == nullptr) return 0.0;
  const PeakKernels& peak = table->peak;
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  volatile float sink = 0.0F;
  size_t steps = 16;
  double best = 0.0;
  const Clock::time_point begin = Clock::now();
  do {
    const Clock::time_point window = Clock::now();
    sink = peak.burst(steps);
    const double took = since(window);
    if (took < 0.7e-3) {
      steps *= 2;
      continue;
    }
    best = std::max(best, static_cast<double>(peak.flops_per_step * steps) / took);
  } while (since(begin) < seconds || best == 0.0);
  static_cast<void>(sink);
  return best;
}

}  // namespace capra::kernels
