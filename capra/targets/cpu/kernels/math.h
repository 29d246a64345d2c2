// The elementwise functions of the numeric contract for the vector types of vec.h: exp, log, tanh,
// erf, erfc, gelu_exact, gelu_tanh, sigmoid, silu, rsqrt, relu and exp_nonpositive (math.inc).
// Compiled once per instruction set, like vec.h.
#if defined(CAPRA_TARGETS_CPU_KERNELS_MATH_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAPRA_TARGETS_CPU_KERNELS_MATH_H_
#undef CAPRA_TARGETS_CPU_KERNELS_MATH_H_
#else
#define CAPRA_TARGETS_CPU_KERNELS_MATH_H_
#endif

#include "capra/targets/cpu/kernels/vec.h"

HWY_BEFORE_NAMESPACE();
namespace capra::kernels {
namespace HWY_NAMESPACE {
namespace {

#define CAPRA_INLINE HWY_INLINE
#include "capra/base/math.inc"
#undef CAPRA_INLINE

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace capra::kernels
HWY_AFTER_NAMESPACE();

#endif
