// The instruction sets that kernels are compiled for: AVX-512 (F, VL, DQ, BW, CD), AVX2 with FMA,
// NEON, and the portable path. Targets without a fused multiply-add would break the numeric
// contract, so they are left out.
#pragma once

#ifdef HIGHWAY_HWY_DETECT_TARGETS_H_
#error "include capra headers before hwy headers"
#endif
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif
