// The gate of erf without chlo (numerics.md), over the sweep that tests make.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace capra::stablehlo {

/// What an erf in f32 is off by at most, against glibc's erf in double (within an ulp of double).
struct ErfError {
  double abs = 0;
  double ulp = 0;

  /// `out`, found for `in`, neither a NaN.
  void include(double in, double out) {
    const double exact = std::erf(in);
    const double error = std::abs(out - exact);
    const int exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
    abs = std::max(abs, error);
    ulp = std::max(ulp, error / std::ldexp(1.0, exponent - 23));
    ASSERT_EQ(std::signbit(out), std::signbit(in)) << in;
  }

  void expect_gate() const {
    EXPECT_LT(abs, 1e-7);
    EXPECT_LE(ulp, 1.5);
  }
};

}  // namespace capra::stablehlo
