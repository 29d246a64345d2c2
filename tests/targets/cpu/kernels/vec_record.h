// What vec_test.cc asks each instruction set, and the answers. Beside it, as vec_test.cc is
// compiled once for each.
#pragma once

#include <cstddef>
#include <cstdint>

namespace capra::kernels {

// 16 lanes in, and what each function makes of them.
struct VecInput {
  float a[16], b[16], c[16];
  double x[16], y[16], z[16];
  int32_t i[16], j[16];
  size_t count;
};
struct VecOutput {
  float add[16], sub[16], mul[16], div[16], sqrt[16], neg[16], abs[16], fma[16], copy_sign[16];
  float round_even[16], min[16], max[16], minimum[16], maximum[16];
  float lt[16], le[16], gt[16], ge[16], eq[16], is_nan[16], mask_and[16], mask_or[16];
  float to_f32[16], narrow[16], partial[17], from_bits[16];
  double dadd[16], dsub[16], dmul[16], ddiv[16], dsqrt[16], dfma[16], dminimum[16], dmaximum[16];
  double dlt[16], widen[16], dpartial[17], dround[16];
  int32_t to_i32[16], to_bits[16], iadd[16], isub[16], band[16], bor[16], bxor[16], shl[16];
  int32_t shr[16], shrl[16], imin[16], imax[16], ieq[16], igt[16], ilt[16], ipartial[17];
  float sum, most;
  double dsum;
  uint32_t bits;
  bool any, all;
};

}  // namespace capra::kernels
