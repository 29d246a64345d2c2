// The functions of the numeric contract against outside sources: glibc's double functions (within
// an ulp of double, so 1e-8 of an f32 ulp) over a strided sweep of all floats, and mpmath values at
// 60 digits (math_values.txt). CAPRA_MATH_STRIDE is the stride: 1 visits every float.
//
// The values: for each function and width some 90 seeded points over the range where the result is
// neither 0 nor infinite, a third of them in [-4, 4], and powers of two down to 2^-40, of both
// signs; mpmath's exp, log, tanh, erf and erfc, gelu as x erfc(-x / sqrt(2)) / 2, its tanh form,
// silu and sigmoid by exp; each result as the nearest double and the double nearest to the rest.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "capra/base/half.h"
#include "capra/targets/cpu/kernels/elementwise.h"
#include "capra/targets/cpu/kernels/kernel_table.h"

namespace capra::kernels {
namespace {

#ifndef CAPRA_MATH_STRIDE
#define CAPRA_MATH_STRIDE 19997
#endif
constexpr uint64_t kStride = CAPRA_MATH_STRIDE;
#undef CAPRA_MATH_STRIDE
constexpr double kInf = std::numeric_limits<double>::infinity();

double gelu_reference(double x) {
  if (std::isinf(x)) return x > 0 ? x : 0.0;
  return 0.5 * x * std::erfc(-x * M_SQRT1_2);
}
double gelu_tanh_reference(double x) {
  if (std::isinf(x)) return x > 0 ? x : 0.0;
  // x / 2 (1 + tanh u) = x / (1 + exp(-2 u)), which keeps the left tail.
  const long double v = x;
  const long double u =
      std::sqrt(2.0L / 3.14159265358979323846264338L) * (v + 0.044715L * v * v * v);
  return static_cast<double>(v / (1.0L + std::exp(-2.0L * u)));
}
double silu_reference(double x) {
  if (std::isinf(x)) return x > 0 ? x : 0.0;
  return x / (1.0 + std::exp(-x));
}

struct Function {
  UnaryOp op;
  const char* name;
  double (*reference)(double);
  double max_ulp;            // over all floats
  double max_abs;            // for results of operands in [low, high]
  double max_tail_relative;  // for operands below 0 with normal results
  double low;
  double high;
};
const Function kFunctions[] = {
    {UnaryOp::Exp, "exp", [](double x) { return std::exp(x); }, 1.0, kInf, kInf, -110, 90},
    {UnaryOp::Log, "log", [](double x) { return std::log(x); }, 1.0, kInf, kInf, 0, 1},
    {UnaryOp::Tanh, "tanh", [](double x) { return std::tanh(x); }, 1.5, 9e-8, kInf, -20, 20},
    {UnaryOp::Erf, "erf", [](double x) { return std::erf(x); }, 1.5, 1e-7, kInf, -kInf, kInf},
    {UnaryOp::Erfc, "erfc", [](double x) { return std::erfc(x); }, 1.5, 1e-7, kInf, -kInf, kInf},
    {UnaryOp::GeluExact, "gelu_exact", gelu_reference, kInf, 2.6e-7, 1e-5, -12, 6},
    {UnaryOp::GeluExact, "gelu_exact", gelu_reference, kInf, 4.5e-7, 1e-5, -12, 12},
    {UnaryOp::GeluTanh, "gelu_tanh", gelu_tanh_reference, kInf, 4.8e-7, 1e-5, -12, 12},
    {UnaryOp::Sigmoid, "sigmoid", [](double x) { return 1.0 / (1.0 + std::exp(-x)); }, 3.0, 1.2e-7,
     kInf, -kInf, kInf},
    {UnaryOp::Silu, "silu", silu_reference, 4.0, kInf, kInf, -20, 20},
    {UnaryOp::Rsqrt, "rsqrt", [](double x) { return 1.0 / std::sqrt(x); }, 1.5, kInf, kInf, 0, 1},
    {UnaryOp::Sqrt, "sqrt", [](double x) { return std::sqrt(x); }, 0.5, kInf, kInf, 0, 1},
};

// The distance between neighbours of type T at |x|.
template <class T>
double ulp_at(double x) {
  int exponent = 0;
  std::frexp(std::fabs(x), &exponent);
  const int least = std::numeric_limits<T>::min_exponent;
  return std::ldexp(1.0, std::max(exponent, least) - std::numeric_limits<T>::digits);
}

struct Worst {
  double value = 0;
  double at = 0;
  void see(double error, double x) {
    if (error > value) {
      value = error;
      at = x;
    }
  }
};

class MathSweep : public testing::TestWithParam<Function> {};

TEST_P(MathSweep, stays_within_its_bounds_over_all_floats) {
  const Function& f = GetParam();
  const KernelTable& table = kernels();
  constexpr int kBlock = 1024;
  std::vector<float> x(kBlock);
  std::vector<float> y(kBlock);
  Worst ulp;
  Worst absolute;
  Worst tail;
  for (uint64_t bits = 0; bits < (1ull << 32);) {
    int n = 0;
    for (; n < kBlock && bits < (1ull << 32); ++n, bits += kStride) {
      x[n] = std::bit_cast<float>(static_cast<uint32_t>(bits));
    }
    table.elementwise.unary_f32(f.op, x.data(), y.data(), n);
    for (int i = 0; i < n; ++i) {
      const double exact = f.reference(x[i]);
      const double value = y[i];
      if (std::isnan(exact) || std::isnan(value)) {
        ASSERT_EQ(std::isnan(exact), std::isnan(value)) << f.name << " of " << x[i];
        continue;
      }
      const float rounded = static_cast<float>(exact);
      if (std::isinf(rounded) || std::isinf(y[i])) {
        ASSERT_EQ(y[i], rounded) << f.name << " of " << x[i];
        continue;
      }
      const double error = std::fabs(value - exact);
      ulp.see(error / ulp_at<float>(exact), x[i]);
      if (x[i] >= f.low && x[i] <= f.high) absolute.see(error, x[i]);
      if (x[i] < 0 && std::fabs(exact) >= 0x1p-126) tail.see(error / std::fabs(exact), x[i]);
    }
  }
  std::printf("%-10s  %.3f ulp at %.9g   abs %.3g at %.9g   left of 0 relative %.3g at %.9g\n",
              f.name, ulp.value, ulp.at, absolute.value, absolute.at, tail.value, tail.at);
  EXPECT_LE(ulp.value, f.max_ulp) << "at " << ulp.at;
  EXPECT_LT(absolute.value, f.max_abs) << "at " << absolute.at;
  EXPECT_LT(tail.value, f.max_tail_relative) << "at " << tail.at;
}

INSTANTIATE_TEST_SUITE_P(all, MathSweep, testing::ValuesIn(kFunctions),
                         [](const testing::TestParamInfo<Function>& instance) {
                           return std::string(instance.param.name) + "_" +
                                  std::to_string(instance.index);
                         });

float call(UnaryOp op, float x) {
  kernels().elementwise.unary_f32(op, &x, &x, 1);
  return x;
}
double call(UnaryOp op, double x) {
  unary(kernels(), op, Element::F64, &x, &x, 1);
  return x;
}

TEST(math, erf_and_tanh_are_odd) {
  for (uint64_t bits = 0; bits <= 0x7f800000u; bits += kStride) {
    const auto x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    for (const UnaryOp op : {UnaryOp::Erf, UnaryOp::Tanh}) {
      ASSERT_EQ(std::bit_cast<uint32_t>(call(op, -x)), std::bit_cast<uint32_t>(-call(op, x))) << x;
    }
  }
}

// C99 annex F and the limits of the functions.
template <class T>
void check_special_values() {
  const T inf = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T zero = 0;
  struct Case {
    UnaryOp op;
    T x;
    T y;
  };
  const Case cases[] = {
      {UnaryOp::Exp, zero, 1},
      {UnaryOp::Exp, -zero, 1},
      {UnaryOp::Exp, inf, inf},
      {UnaryOp::Exp, -inf, 0},
      {UnaryOp::Exp, 1000, inf},
      {UnaryOp::Exp, -1000, 0},
      {UnaryOp::Log, 1, 0},
      {UnaryOp::Log, zero, -inf},
      {UnaryOp::Log, -zero, -inf},
      {UnaryOp::Log, inf, inf},
      {UnaryOp::Log, -1, nan},
      {UnaryOp::Log, -inf, nan},
      {UnaryOp::Tanh, zero, zero},
      {UnaryOp::Tanh, -zero, -zero},
      {UnaryOp::Tanh, inf, 1},
      {UnaryOp::Tanh, -inf, -1},
      {UnaryOp::Erf, zero, zero},
      {UnaryOp::Erf, -zero, -zero},
      {UnaryOp::Erf, inf, 1},
      {UnaryOp::Erf, -inf, -1},
      {UnaryOp::Erfc, zero, 1},
      {UnaryOp::Erfc, inf, 0},
      {UnaryOp::Erfc, -inf, 2},
      {UnaryOp::GeluExact, zero, zero},
      {UnaryOp::GeluExact, -zero, -zero},
      {UnaryOp::GeluExact, inf, inf},
      {UnaryOp::GeluExact, -inf, 0},
      {UnaryOp::GeluTanh, zero, zero},
      {UnaryOp::GeluTanh, -zero, -zero},
      {UnaryOp::GeluTanh, inf, inf},
      {UnaryOp::GeluTanh, -inf, 0},
      {UnaryOp::Sigmoid, zero, T(0.5)},
      {UnaryOp::Sigmoid, inf, 1},
      {UnaryOp::Sigmoid, -inf, 0},
      {UnaryOp::Silu, zero, zero},
      {UnaryOp::Silu, -zero, -zero},
      {UnaryOp::Silu, inf, inf},
      {UnaryOp::Silu, -inf, 0},
      {UnaryOp::Sqrt, -zero, -zero},
      {UnaryOp::Sqrt, -1, nan},
      {UnaryOp::Rsqrt, zero, inf},
      {UnaryOp::Rsqrt, -zero, -inf},
      {UnaryOp::Rsqrt, inf, 0},
      {UnaryOp::Relu, -zero, zero},
      {UnaryOp::Relu, -3, 0},
      {UnaryOp::Relu, 3, 3},
      {UnaryOp::Neg, zero, -zero},
      {UnaryOp::Abs, -inf, inf},
  };
  for (const Case& c : cases) {
    const T y = call(c.op, c.x);
    if (std::isnan(c.y)) {
      EXPECT_TRUE(std::isnan(y)) << static_cast<int>(c.op) << " of " << c.x << " is " << y;
    } else {
      EXPECT_EQ(y, c.y) << static_cast<int>(c.op) << " of " << c.x;
      if (c.x != -inf) {
        EXPECT_EQ(std::signbit(y), std::signbit(c.y)) << static_cast<int>(c.op) << " of " << c.x;
      }
    }
  }
  for (int op = 0; op <= static_cast<int>(UnaryOp::Relu); ++op) {
    if (!unary_supports(static_cast<UnaryOp>(op), Element::F32)) continue;
    EXPECT_TRUE(std::isnan(call(static_cast<UnaryOp>(op), nan))) << op;
    EXPECT_TRUE(std::isnan(call(static_cast<UnaryOp>(op), -nan))) << op;
  }
}
TEST(math, special_values_f32) { check_special_values<float>(); }
TEST(math, special_values_f64) { check_special_values<double>(); }

TEST(math, exact_and_tanh_gelu_differ_where_they_should) {
  // The two real functions differ by at most 4.734e-4, at |x| = 2.701.
  for (const bool kernel : {false, true}) {
    Worst worst;
    for (int i = -8 * 4096; i <= 8 * 4096; ++i) {
      const double x = i / 4096.0;
      const double exact =
          kernel ? static_cast<double>(call(UnaryOp::GeluExact, static_cast<float>(x)))
                 : gelu_reference(x);
      const double other = kernel
                               ? static_cast<double>(call(UnaryOp::GeluTanh, static_cast<float>(x)))
                               : gelu_tanh_reference(x);
      worst.see(std::fabs(exact - other), x);
    }
    std::printf("exact - tanh GELU (%s): %.4g at %.4f\n", kernel ? "f32" : "double", worst.value,
                worst.at);
    EXPECT_GE(worst.value, 4.5e-4);
    EXPECT_LE(worst.value, 5.0e-4);
    EXPECT_GE(std::fabs(worst.at), 2.5);
    EXPECT_LE(std::fabs(worst.at), 2.9);
  }
}

struct Bound {
  UnaryOp op;
  double f32_ulp;
  double f64_ulp;
};
const std::map<std::string, Bound> kBounds = {
    {"exp", {UnaryOp::Exp, 1, 1}},
    {"log", {UnaryOp::Log, 1, 1}},
    {"tanh", {UnaryOp::Tanh, 1.5, 1}},
    {"erf", {UnaryOp::Erf, 1.5, 1}},
    {"erfc", {UnaryOp::Erfc, 4, 2}},
    // In the far left tail an f32 GELU is held to 1e-5 relative, 170 ulp; tested above.
    {"gelu_exact", {UnaryOp::GeluExact, 170, 2.5}},
    {"gelu_tanh", {UnaryOp::GeluTanh, 170, 2}},
    {"sigmoid", {UnaryOp::Sigmoid, 3, 2}},
    {"silu", {UnaryOp::Silu, 4, 2}},
};

TEST(math, mpmath_values) {
  std::ifstream in(CAPRA_SOURCE_DIR "/tests/targets/cpu/kernels/math_values.txt");
  ASSERT_TRUE(in);
  std::map<std::string, Worst> worst;
  int rows = 0;
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string name;
    std::string numbers[3];
    fields >> name >> numbers[0] >> numbers[1] >> numbers[2];
    const double x = std::strtod(numbers[0].c_str(), nullptr);
    const double high = std::strtod(numbers[1].c_str(), nullptr);
    const double low = std::strtod(numbers[2].c_str(), nullptr);
    const bool single = name.size() > 4 && name.substr(name.size() - 4) == "_f32";
    const auto bound = kBounds.find(single ? name.substr(0, name.size() - 4) : name);
    ASSERT_NE(bound, kBounds.end()) << name;
    const UnaryOp op = bound->second.op;
    const double y = single ? static_cast<double>(call(op, static_cast<float>(x))) : call(op, x);
    const double ulp = single ? ulp_at<float>(high) : ulp_at<double>(high);
    worst[name].see(std::fabs((y - high) - low) / ulp, x);
    ++rows;
  }
  EXPECT_GT(rows, 2500);
  EXPECT_EQ(worst.size(), 2 * kBounds.size());
  for (const auto& [name, error] : worst) {
    const bool single = name.size() > 4 && name.substr(name.size() - 4) == "_f32";
    const Bound& bound = kBounds.at(single ? name.substr(0, name.size() - 4) : name);
    std::printf("%-14s %.3f ulp at %.9g\n", name.c_str(), error.value, error.at);
    EXPECT_LE(error.value, single ? bound.f32_ulp : bound.f64_ulp) << name << " at " << error.at;
  }
}

TEST(math, sixteen_bit_floats_round_once_from_f32) {
  // The double reference rounded to the narrow type is met, or missed by one where it lies within
  // f32's error of the midpoint between two values.
  for (const Function& f : kFunctions) {
    for (const Element type : {Element::F16, Element::BF16}) {
      std::vector<uint16_t> x(65536);
      std::vector<uint16_t> y(65536);
      for (uint32_t i = 0; i < 65536; ++i) x[i] = static_cast<uint16_t>(i);
      unary(kernels(), f.op, type, x.data(), y.data(), 65536);
      for (uint32_t i = 0; i < 65536; ++i) {
        const auto widen = type == Element::F16 ? f16_to_f32 : bf16_to_f32;
        const double exact = f.reference(widen(x[i]));
        const double value = widen(y[i]);
        if (std::isnan(exact)) {
          ASSERT_TRUE(std::isnan(value)) << f.name << " " << i;
          continue;
        }
        const uint16_t nearest = type == Element::F16 ? f64_to_f16(exact) : f64_to_bf16(exact);
        if (y[i] == nearest || (value == 0 && widen(nearest) == 0)) continue;
        const double step = std::fabs(value - widen(nearest));
        ASSERT_LE(std::fabs(value - exact), 0.5 * step * (1 + 1e-2)) << f.name << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace capra::kernels
