// Bits of f32 as what they mean: Capra has no op on bits.
#pragma once

#include <cstdint>
#include <optional>

#include "capra/ir/tensor.h"
#include "capra/targets/stablehlo/module.h"

namespace capra::stablehlo {

/// Bits of a float as an unsigned integer, all of them or some with the others 0.
struct FloatBits {
  enum class Part : uint8_t { All, Magnitude, Sign };
  Tensor source = {};  ///< empty: no bits
  Part part = Part::All;

  explicit operator bool() const { return static_cast<bool>(source); }
};

// All throw `Error` (`op-not-legal`) for what no op can say.

/// The bits of x as `dtype`; both f32 and u32.
FloatBits bits_of(const Tensor& x, DType dtype);
/// The float of these bits.
Tensor float_of(const FloatBits& bits);
/// An operation on bits and a number that all elements share: and with the sign's bit or with the
/// others, a shift of the low nine bits to the place of sign and exponent.
FloatBits masked(const Operation& operation, const FloatBits& bits, std::optional<int64_t> number);
/// A magnitude with a sign.
FloatBits joined(const Operation& operation, const FloatBits& a, const FloatBits& b);

}  // namespace capra::stablehlo
