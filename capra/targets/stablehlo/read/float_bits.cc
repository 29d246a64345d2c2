// Signs and exponents, as numbers.
#include "capra/targets/stablehlo/read/float_bits.h"

#include <cstring>
#include <utility>

#include "capra/ops/abs.h"
#include "capra/ops/arithmetic.h"
#include "capra/ops/compare.h"
#include "capra/ops/constant.h"
#include "capra/ops/convert.h"
#include "capra/ops/gather.h"
#include "capra/ops/logical_or.h"
#include "capra/ops/select.h"

namespace capra::stablehlo {
namespace {

using Part = FloatBits::Part;

[[noreturn]] void refuse(const Operation& operation) {
  throw Error({"op-not-legal",
               "no op says what " + std::string(operation.name) + " does with bits of floats",
               {},
               "only signs are copied and exponents made of low bits"});
}

// -0 has its sign, NaN has none.
Tensor is_negative(const Tensor& x) {
  const Tensor zero = scalar_like(x, 0.0);
  const Tensor below = compare(x, zero, {"lt"});
  const Tensor inverse = 1.0 / x;
  const Tensor inverse_below = compare(inverse, zero, {"lt"});
  return logical_or(below, inverse_below);
}

// The float whose sign and exponent are the low nine bits of x in [2^23, 2^24), where a unit of the
// last place is 1.
Tensor power_of_low_bits(const Tensor& x) {
  constexpr uint32_t kPowers = 512;
  Array powers = Array::zeros(DType::F32, {kPowers});
  for (uint32_t i = 0; i < kPowers; ++i) {
    const uint32_t bits = i << 23;
    std::memcpy(powers.mutable_data() + i * sizeof bits, &bits, sizeof bits);
  }
  const Tensor offset = x - 0x1p23;
  const Tensor low = convert(offset, DType::I32);
  const Tensor high = low / double{kPowers};
  const Tensor cut = high * double{kPowers};
  const Tensor index = low - cut;
  const Tensor table = constant(x.context(), powers);
  return gather(table, index);
}

}  // namespace

FloatBits bits_of(const Tensor& x, DType dtype) {
  if (x.dtype() != DType::F32 || dtype != DType::U32) {
    throw Error({"op-not-legal", "no op gives the bits of " + x.type().text() + " as " +
                                     std::string(dtype_name(dtype))});
  }
  return {x, Part::All};
}

Tensor float_of(const FloatBits& bits) {
  if (bits.part != Part::Sign) return bits.source;
  throw Error({"op-not-legal", "the bit of a sign is taken for a float"});
}

FloatBits masked(const Operation& operation, const FloatBits& bits, std::optional<int64_t> number) {
  if (bits.part != Part::All || !number) refuse(operation);
  if (operation.name == "stablehlo.and" && *number == 0x7fffffff) {
    return {abs(bits.source), Part::Magnitude};
  }
  if (operation.name == "stablehlo.and" && *number == 0x80000000) {
    return {bits.source, Part::Sign};
  }
  if (operation.name == "stablehlo.shift_left" && *number == 23) {
    return {power_of_low_bits(bits.source), Part::All};
  }
  refuse(operation);
}

FloatBits joined(const Operation& operation, const FloatBits& a, const FloatBits& b) {
  const bool is_copy = a.part == Part::Magnitude && b.part == Part::Sign;
  if (operation.name != "stablehlo.or" || !is_copy) refuse(operation);
  const Tensor sign = is_negative(b.source);
  const Tensor opposite = -a.source;
  return {select(sign, opposite, a.source), Part::All};
}

}  // namespace capra::stablehlo
