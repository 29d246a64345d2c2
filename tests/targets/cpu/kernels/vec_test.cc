// The vector types on every instruction set, each function against the C++ library or plain C++ on
// values where implementations differ: ties, signed zeros, NaN, infinities, subnormals, saturation.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "capra/targets/cpu/isa/isa.h"
#include "tests/targets/cpu/kernels/vec_record.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/targets/cpu/kernels/vec_test.cc"
// clang-format off
#include "capra/targets/cpu/kernels/foreach_isa.h"
#include "capra/targets/cpu/kernels/vec.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace capra::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class F, class D, class I>
HWY_INLINE void probe(const VecInput& in, size_t at, VecOutput& out) {
  const F a = F::load(in.a + at);
  const F b = F::load(in.b + at);
  const F c = F::load(in.c + at);
  const F one = F::all(1.0F);
  const F zero = F::all(0.0F);
  store(add(a, b), out.add + at);
  store(sub(a, b), out.sub + at);
  store(mul(a, b), out.mul + at);
  store(div(a, b), out.div + at);
  store(sqrt(a), out.sqrt + at);
  store(neg(a), out.neg + at);
  store(abs(a), out.abs + at);
  store(fma(a, b, c), out.fma + at);
  store(copy_sign(a, b), out.copy_sign + at);
  store(round_even(a), out.round_even + at);
  store(min(a, b), out.min + at);
  store(max(a, b), out.max + at);
  store(minimum(a, b), out.minimum + at);
  store(maximum(a, b), out.maximum + at);
  store(select(lt(a, b), one, zero), out.lt + at);
  store(select(le(a, b), one, zero), out.le + at);
  store(select(gt(a, b), one, zero), out.gt + at);
  store(select(ge(a, b), one, zero), out.ge + at);
  store(select(eq(a, b), one, zero), out.eq + at);
  store(select(is_nan(a), one, zero), out.is_nan + at);
  store(select(mask_and(lt(a, b), mask_not(lt(a, c))), one, zero), out.mask_and + at);
  store(select(mask_or(lt(a, b), lt(a, c)), one, zero), out.mask_or + at);
  store(to_i32(a), out.to_i32 + at);
  store(to_bits(a), out.to_bits + at);
  store(widen(a), out.widen + at);

  const D x = D::load(in.x + at);
  const D y = D::load(in.y + at);
  const D z = D::load(in.z + at);
  store(add(x, y), out.dadd + at);
  store(sub(x, y), out.dsub + at);
  store(mul(x, y), out.dmul + at);
  store(div(x, y), out.ddiv + at);
  store(sqrt(x), out.dsqrt + at);
  store(fma(x, y, z), out.dfma + at);
  store(minimum(x, y), out.dminimum + at);
  store(maximum(x, y), out.dmaximum + at);
  store(select(lt(x, y), D::all(1.0), D::all(0.0)), out.dlt + at);
  store(round_even(x), out.dround + at);
  store(narrow(x), out.narrow + at);

  const I i = I::load(in.i + at);
  const I j = I::load(in.j + at);
  store(add(i, j), out.iadd + at);
  store(sub(i, j), out.isub + at);
  store(bit_and(i, j), out.band + at);
  store(bit_or(i, j), out.bor + at);
  store(bit_xor(i, j), out.bxor + at);
  store(shift_left<23>(i), out.shl + at);
  store(shift_right<23>(i), out.shr + at);
  store(shift_right_logical<23>(i), out.shrl + at);
  store(min(i, j), out.imin + at);
  store(max(i, j), out.imax + at);
  store(select(eq(i, j), I::all(1), I::all(0)), out.ieq + at);
  store(select(gt(i, j), I::all(1), I::all(0)), out.igt + at);
  store(select(lt(i, j), I::all(1), I::all(0)), out.ilt + at);
  store(to_f32(i), out.to_f32 + at);
  store(from_bits(i), out.from_bits + at);
}

}  // namespace

void probe_wide(const VecInput& in, VecOutput& out) {
  probe<F32x16, F64x16, I32x16>(in, 0, out);
  store_partial(F32x16::load_partial(in.a, in.count), out.partial, in.count);
  store_partial(F64x16::load_partial(in.x, in.count), out.dpartial, in.count);
  store_partial(I32x16::load_partial(in.i, in.count), out.ipartial, in.count);
  out.sum = sum_lanes(F32x16::load(in.a));
  out.dsum = sum_lanes(F64x16::load(in.x));
  out.most = max_lanes(F32x16::load_partial(in.a, in.count));
  const auto first = F32x16::Mask::first(in.count);
  out.bits = mask_bits(first);
  out.any = any(first);
  out.all = all(first);
}
void probe_lanes(const VecInput& in, VecOutput& out) {
  for (size_t at = 0; at < 16; ++at) probe<F32x1, F64x1, I32x1>(in, at, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace capra::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace capra::kernels {
namespace {

using Probe = void (*)(const VecInput&, VecOutput&);
struct Named {
  std::string name;
  Probe probe;
};

std::vector<Named> probes() {
  std::vector<Named> all;
#define CAPRA_ADD_PROBES(isa, space)                                            \
  if (host_runs(isa)) {                                                         \
    all.push_back({isa_name(isa), space::probe_wide});                          \
    all.push_back({std::string(isa_name(isa)) + "_lanes", space::probe_lanes}); \
  }
#if HWY_TARGETS & HWY_SCALAR
  CAPRA_ADD_PROBES(Isa::Portable, N_SCALAR)
#elif HWY_TARGETS & HWY_EMU128
  CAPRA_ADD_PROBES(Isa::Portable, N_EMU128)
#endif
#if HWY_TARGETS & HWY_AVX2
  CAPRA_ADD_PROBES(Isa::Avx2, N_AVX2)
#endif
#if HWY_TARGETS & HWY_AVX3
  CAPRA_ADD_PROBES(Isa::Avx512, N_AVX3)
#endif
#if HWY_TARGETS & HWY_NEON
  CAPRA_ADD_PROBES(Isa::Neon, N_NEON)
#endif
#undef CAPRA_ADD_PROBES
  return all;
}

template <class T>
bool same(T a, T b) {
  if (a != a || b != b) return a != a && b != b;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
T least(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T most(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

int32_t saturated(float a) {
  if (std::isnan(a)) return 0;
  const double whole = std::trunc(static_cast<double>(a));
  if (whole >= 2147483647.0) return INT32_MAX;
  if (whole <= -2147483648.0) return INT32_MIN;
  return static_cast<int32_t>(whole);
}

int32_t as_bits(float a) {
  int32_t bits;
  std::memcpy(&bits, &a, 4);
  return bits;
}
float as_float(int32_t bits) {
  float a;
  std::memcpy(&a, &bits, 4);
  return a;
}

class VecTest : public testing::TestWithParam<Named> {};

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

const std::vector<float>& values() {
  static const std::vector<float> all = {0.0F,
                                         -0.0F,
                                         1.0F,
                                         -1.0F,
                                         0.5F,
                                         -0.5F,
                                         1.5F,
                                         -1.5F,
                                         2.5F,
                                         -2.5F,
                                         0x1p-149F,
                                         -0x1p-149F,
                                         0x1p-126F,
                                         0x1.fffffep-127F,
                                         kInf,
                                         -kInf,
                                         kNan,
                                         0x1p31F,
                                         -0x1p31F,
                                         0x1.fffffep30F,
                                         -0x1.000002p31F,
                                         3e9F,
                                         -3e9F,
                                         0x1p23F,
                                         0x1.000002p-12F,
                                         0x1.fffffcp-13F,
                                         0x1.000002p0F,
                                         8388607.5F,
                                         -8388606.5F,
                                         0.49999997F,
                                         1e38F,
                                         -1e38F,
                                         0x1.fffffep127F,
                                         1e-20F,
                                         3.3F,
                                         -7.9F};
  return all;
}

// Every pair of the special values, with c and the integers taken from the same list.
void for_each_input(void (*check)(const VecInput&, Probe), Probe probe) {
  const std::vector<float>& v = values();
  VecInput in;
  size_t lane = 0;
  size_t step = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    for (size_t j = 0; j < v.size(); ++j) {
      const float c = v[(i * 7 + j * 3 + 5) % v.size()];
      in.a[lane] = v[i];
      in.b[lane] = v[j];
      in.c[lane] = c;
      in.x[lane] = static_cast<double>(v[i]) * (1 + 0x1p-30);
      in.y[lane] = static_cast<double>(v[j]) * (1 - 0x1p-29);
      in.z[lane] = static_cast<double>(c) * (1 + 0x1p-40);
      in.i[lane] = as_bits(v[i]);
      in.j[lane] = static_cast<int32_t>((i * 2654435761U) ^ (j << 29));
      if (++lane == 16) {
        lane = 0;
        in.count = step++ % 17;
        check(in, probe);
      }
    }
  }
}

#define CAPRA_EXPECT(field, want)                                                           \
  EXPECT_TRUE(same(out.field[n], static_cast<decltype(+out.field[n])>(want)))               \
      << #field << " of " << a << ", " << b << ", " << c << ": " << out.field[n] << " for " \
      << (want)

void check_lanes(const VecInput& in, Probe probe) {
  static VecOutput out;
  std::memset(&out, 0xab, sizeof out);
  probe(in, out);
  for (size_t n = 0; n < 16; ++n) {
    const float a = in.a[n], b = in.b[n], c = in.c[n];
    CAPRA_EXPECT(add, a + b);
    CAPRA_EXPECT(sub, a - b);
    CAPRA_EXPECT(mul, a * b);
    CAPRA_EXPECT(div, a / b);
    CAPRA_EXPECT(sqrt, std::sqrt(a));
    CAPRA_EXPECT(neg, -a);
    CAPRA_EXPECT(abs, std::fabs(a));
    CAPRA_EXPECT(fma, std::fma(a, b, c));
    CAPRA_EXPECT(copy_sign, std::copysign(a, b));
    CAPRA_EXPECT(round_even, std::nearbyint(a));
    CAPRA_EXPECT(min, a < b ? a : b);
    CAPRA_EXPECT(max, a > b ? a : b);
    CAPRA_EXPECT(minimum, least(a, b));
    CAPRA_EXPECT(maximum, most(a, b));
    CAPRA_EXPECT(lt, a < b ? 1.0F : 0.0F);
    CAPRA_EXPECT(le, a <= b ? 1.0F : 0.0F);
    CAPRA_EXPECT(gt, a > b ? 1.0F : 0.0F);
    CAPRA_EXPECT(ge, a >= b ? 1.0F : 0.0F);
    CAPRA_EXPECT(eq, a == b ? 1.0F : 0.0F);
    CAPRA_EXPECT(is_nan, std::isnan(a) ? 1.0F : 0.0F);
    CAPRA_EXPECT(mask_and, a < b && !(a < c) ? 1.0F : 0.0F);
    CAPRA_EXPECT(mask_or, a < b || a < c ? 1.0F : 0.0F);
    CAPRA_EXPECT(to_i32, saturated(a));
    if (!std::isnan(a)) {
      CAPRA_EXPECT(to_bits, as_bits(a));
    }
    CAPRA_EXPECT(widen, static_cast<double>(a));
    const double x = in.x[n], y = in.y[n], z = in.z[n];
    CAPRA_EXPECT(dadd, x + y);
    CAPRA_EXPECT(dsub, x - y);
    CAPRA_EXPECT(dmul, x * y);
    CAPRA_EXPECT(ddiv, x / y);
    CAPRA_EXPECT(dsqrt, std::sqrt(x));
    CAPRA_EXPECT(dfma, std::fma(x, y, z));
    CAPRA_EXPECT(dminimum, least(x, y));
    CAPRA_EXPECT(dmaximum, most(x, y));
    CAPRA_EXPECT(dlt, x < y ? 1.0 : 0.0);
    CAPRA_EXPECT(dround, std::nearbyint(x));
    CAPRA_EXPECT(narrow, static_cast<float>(x));
    const int32_t i = in.i[n], j = in.j[n];
    const auto ui = static_cast<uint32_t>(i), uj = static_cast<uint32_t>(j);
    CAPRA_EXPECT(iadd, static_cast<int32_t>(ui + uj));
    CAPRA_EXPECT(isub, static_cast<int32_t>(ui - uj));
    CAPRA_EXPECT(band, i & j);
    CAPRA_EXPECT(bor, i | j);
    CAPRA_EXPECT(bxor, i ^ j);
    CAPRA_EXPECT(shl, static_cast<int32_t>(ui << 23));
    CAPRA_EXPECT(shr, i >> 23);
    CAPRA_EXPECT(shrl, static_cast<int32_t>(ui >> 23));
    CAPRA_EXPECT(imin, std::min(i, j));
    CAPRA_EXPECT(imax, std::max(i, j));
    CAPRA_EXPECT(ieq, i == j ? 1 : 0);
    CAPRA_EXPECT(igt, i > j ? 1 : 0);
    CAPRA_EXPECT(ilt, i < j ? 1 : 0);
    CAPRA_EXPECT(to_f32, static_cast<float>(i));
    CAPRA_EXPECT(from_bits, as_float(i));
  }
}
#undef CAPRA_EXPECT

TEST_P(VecTest, EveryFunctionIsCorrectlyRounded) { for_each_input(check_lanes, GetParam().probe); }

template <class T>
T folded(const T* v) {
  T p[16];
  std::copy(v, v + 16, p);
  for (int half = 8; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) p[j] += p[j + half];
  }
  return p[0];
}

void check_whole(const VecInput& in, Probe probe) {
  static VecOutput out;
  std::memset(&out, 0x2b, sizeof out);
  const VecOutput before = out;
  probe(in, out);
  for (size_t n = 0; n < 17; ++n) {
    const bool written = n < in.count;
    EXPECT_TRUE(same(out.partial[n], written ? in.a[n] : before.partial[n])) << n;
    EXPECT_TRUE(same(out.dpartial[n], written ? in.x[n] : before.dpartial[n])) << n;
    EXPECT_EQ(out.ipartial[n], written ? in.i[n] : before.ipartial[n]) << n;
  }
  EXPECT_TRUE(same(out.sum, folded(in.a)));
  EXPECT_TRUE(same(out.dsum, folded(in.x)));
  float greatest = in.count > 0 ? in.a[0] : 0.0F;
  for (size_t n = 1; n < 16; ++n) greatest = most(greatest, n < in.count ? in.a[n] : 0.0F);
  EXPECT_TRUE(same(out.most, greatest));
  EXPECT_EQ(out.bits, (1U << in.count) - 1);
  EXPECT_EQ(out.any, in.count > 0);
  EXPECT_EQ(out.all, in.count >= 16);
}

TEST_P(VecTest, PartialAccessAndFolds) {
  if (GetParam().name.find("_lanes") != std::string::npos) return;  // one lane has neither
  for_each_input(check_whole, GetParam().probe);
}

std::string probe_name(const testing::TestParamInfo<Named>& probe) { return probe.param.name; }
INSTANTIATE_TEST_SUITE_P(Isa, VecTest, testing::ValuesIn(probes()), probe_name);

}  // namespace
}  // namespace capra::kernels
#endif  // HWY_ONCE
