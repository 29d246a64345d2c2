// Reductions of contiguous f32 rows, for every instruction set.
#include "capra/targets/cpu/kernels/reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "capra/targets/cpu/kernels/reduce_f32.cc"
// clang-format off
#include "capra/targets/cpu/kernels/foreach_isa.h"
#include "capra/targets/cpu/kernels/vec.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace capra::kernels {
namespace HWY_NAMESPACE {
namespace {

// Lanes beyond the row add +0, which changes no partial: they start at +0, so none is ever -0.
float sum_f32(const float* x, int64_t n) {
  F32x16 partials = F32x16::all(0.0f);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) partials = add(partials, F32x16::load(x + i));
  if (i < n) partials = add(partials, F32x16::load_partial(x + i, static_cast<size_t>(n - i)));
  return sum_lanes(partials);
}

float sum_squared_difference_f32(const float* x, float mean, int64_t n) {
  const F32x16 mean_all = F32x16::all(mean);
  F32x16 partials = F32x16::all(0.0f);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const F32x16 d = sub(F32x16::load(x + i), mean_all);
    partials = add(partials, mul(d, d));
  }
  if (i < n) {
    const auto rest = static_cast<size_t>(n - i);
    const F32x16 d = sub(F32x16::load_partial(x + i, rest), mean_all);
    partials = add(partials, select(F32x16::Mask::first(rest), mul(d, d), F32x16::all(0.0f)));
  }
  return sum_lanes(partials);
}

float max_f32(const float* x, int64_t n) {
  F32x16 most = F32x16::all(-__builtin_inff());
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) most = maximum(most, F32x16::load(x + i));
  if (i < n) {
    const auto rest = static_cast<size_t>(n - i);
    const F32x16 tail = F32x16::load_partial(x + i, rest);
    most = select(F32x16::Mask::first(rest), maximum(most, tail), most);
  }
  return max_lanes(most);
}

}  // namespace

void fill(ReduceKernels& table);
void fill(ReduceKernels& table) {
  table.sum_f32 = sum_f32;
  table.sum_squared_difference_f32 = sum_squared_difference_f32;
  table.max_f32 = max_f32;
}

}  // namespace HWY_NAMESPACE
}  // namespace capra::kernels
HWY_AFTER_NAMESPACE();
