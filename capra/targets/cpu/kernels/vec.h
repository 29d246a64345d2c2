// The vector types every kernel and every math function is written in. One logical width, 16
// lanes, on every instruction set, so that no operation order depends on the machine.
//
//   F32x16  I32x16  F64x16   16 lanes; their masks are F32x16::Mask and F64x16::Mask
//   F32x1   I32x1   F64x1    one lane, same function names: what a template does to a tail
//
// Every function here gives the same bits on AVX-512, AVX2, NEON and the portable path (a NaN
// stays a NaN; which one is not promised). fma rounds once, everywhere. Templates are written as
//   template <class V> HWY_INLINE V twice(V x) { return add(x, x); }
// and call these functions unqualified, so that other types with the same functions fit too.
//
//   V::all(c)  V::load(p)  V::load_partial(p, n)  store(v, p)  store_partial(v, p, n)
//   add sub mul div sqrt neg abs fma copy_sign round_even
//   min max            a < b ? a : b and a > b ? a : b: of unordered or equal operands, b
//   minimum maximum    a NaN if either is one; -0 < +0
//   lt le gt ge eq is_nan -> Mask;  select(m, yes, no)  mask_and mask_or mask_not any all
//   to_bits(F32) -> I32  from_bits(I32) -> F32  to_i32 (toward zero, saturates, NaN gives 0)
//   to_f32(I32)  widen(F32) -> F64  narrow(F64) -> F32
//   I32: add sub bit_and bit_or bit_xor shift_left<n> shift_right<n> (arithmetic)
//        shift_right_logical<n> eq gt lt select min max
//   sum_lanes(v)       p[j] += p[j + 8], then + 4, + 2, + 1
//   max_lanes(v)       by maximum
//
// This header is compiled once per instruction set: include it from a .cc after foreach_isa.h, or
// from a header with the same kind of guard. Everything is inside
//   HWY_BEFORE_NAMESPACE(); namespace capra::kernels { namespace HWY_NAMESPACE { namespace { ... }
//   } }
// and has internal linkage.
#if defined(CAPRA_TARGETS_CPU_KERNELS_VEC_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAPRA_TARGETS_CPU_KERNELS_VEC_H_
#undef CAPRA_TARGETS_CPU_KERNELS_VEC_H_
#else
#define CAPRA_TARGETS_CPU_KERNELS_VEC_H_
#endif

// clang-format off
#include "capra/targets/cpu/kernels/isa_choice.h"
#include "capra/targets/cpu/isa/isa.h"
#include <cstddef>
#include <cstdint>
#include <hwy/highway.h>
// clang-format on

#undef CAPRA_ISA_PORTABLE
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
#define CAPRA_ISA_PORTABLE 1
#else
#define CAPRA_ISA_PORTABLE 0
#endif

HWY_BEFORE_NAMESPACE();
namespace capra::kernels {
namespace HWY_NAMESPACE {
namespace {

// The instruction set that this copy is compiled for.
#if CAPRA_ISA_PORTABLE
constexpr Isa kIsa = Isa::Portable;
#elif HWY_TARGET == HWY_AVX2
constexpr Isa kIsa = Isa::Avx2;
#elif HWY_TARGET == HWY_AVX3
constexpr Isa kIsa = Isa::Avx512;
#else
constexpr Isa kIsa = Isa::Neon;
#endif

#include "capra/targets/cpu/kernels/vec_scalar.inc"
#if CAPRA_ISA_PORTABLE
#include "capra/targets/cpu/kernels/vec_portable.inc"
#else
#include "capra/targets/cpu/kernels/vec_native.inc"
#endif

template <class M>
HWY_INLINE bool none(M m) {
  return !any(m);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace capra::kernels
HWY_AFTER_NAMESPACE();

#endif
