// Twelve or more registers of independent sums, which hides the latency of a fused multiply-add.
#include "capra/targets/cpu/kernels/fma_peak.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "capra/targets/cpu/kernels/fma_peak.cc"
// clang-format off
#include "capra/targets/cpu/kernels/foreach_isa.h"
#include "capra/targets/cpu/kernels/vec.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace capra::kernels {
namespace HWY_NAMESPACE {
namespace {

#if CAPRA_ISA_PORTABLE
constexpr int kSums = 2;
#elif HWY_TARGET == HWY_AVX3
constexpr int kSums = 12;
#else
constexpr int kSums = 6;
#endif

template <int count>
struct Chain {
  Chain<count - 1> rest;
  F32x16 sum;
  HWY_INLINE void start(F32x16 v) {
    rest.start(v);
    sum = mul(v, F32x16::all(static_cast<float>(count)));
  }
  HWY_INLINE void step(F32x16 a, F32x16 b) {
    rest.step(a, b);
    sum = fma(sum, a, b);
  }
  HWY_INLINE F32x16 total() const { return add(rest.total(), sum); }
};
template <>
struct Chain<0> {
  HWY_INLINE void start(F32x16) {}
  HWY_INLINE void step(F32x16, F32x16) {}
  HWY_INLINE F32x16 total() const { return F32x16::all(0.0F); }
};

float burst(size_t steps) {
  // The sums tend to 1 and stay normal numbers. They start apart, so that no two can be merged.
  const F32x16 a = F32x16::all(0.5F);
  const F32x16 b = F32x16::all(0.5F);
  float first[16];
  for (int i = 0; i < 16; ++i) first[i] = static_cast<float>(i) + 0.25F;
  Chain<kSums> chain;
  chain.start(F32x16::load(first));
  for (size_t i = 0; i < steps; ++i) {
    chain.step(a, b);
    chain.step(b, a);
  }
  return sum_lanes(chain.total());
}

}  // namespace

void fill(PeakKernels& table) {
  table.flops_per_step = size_t{2} * 2 * 16 * kSums;
  table.burst = burst;
}

}  // namespace HWY_NAMESPACE
}  // namespace capra::kernels
HWY_AFTER_NAMESPACE();
