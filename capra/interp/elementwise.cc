// Ops whose result element depends on one element of each operand.
#include <cmath>
#include <limits>
#include <type_traits>

#include "capra/interp/primitive.h"
#include "capra/ops/compare.h"

namespace capra::interp {
namespace {

// result[i] = function(x[i])
template <class T, class Function>
Array map(const Call& call, const Function& function) {
  Array result = call.make_result();
  const std::span<const T> x = call.operand(0).as<T>();
  const auto out = result.mutable_as<T>();
  over_ranges(call.pool, result.elements(), [&](int64_t first, int64_t last) {
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
      out[i] = function(x[i]);
    }
  });
  return result;
}

// result[i] = function(a[i], b[i]), both repeated to the shape of the result. R: bool is uint8_t.
template <class T, class R, class Function>
Array map_two(const Call& call, const Function& function) {
  Array result = call.make_result();
  const Array wide_a = expand(call.operand(0), result.sizes());
  const Array wide_b = expand(call.operand(1), result.sizes());
  const std::span<const T> a = wide_a.as<T>();
  const std::span<const T> b = wide_b.as<T>();
  const auto out = result.mutable_as<R>();
  over_ranges(call.pool, result.elements(), [&](int64_t first, int64_t last) {
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
      out[i] = static_cast<R>(function(a[i], b[i]));
    }
  });
  return result;
}

// One function for doubles, another for integers of type T.
template <class Real, class Whole>
Array arithmetic(const Call& call, const Real& real, const Whole& whole) {
  const DType dtype = call.operand(0).dtype();
  return with_held(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, double>)
      return map_two<T, T>(call, real);
    else
      return map_two<T, T>(call, whole);
  });
}

// Arithmetic modulo 2^64 keeps the low bits right; storing cuts them to the dtype.
uint64_t bits(auto value) { return static_cast<uint64_t>(value); }

template <class T>
T quotient(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(-bits(a));  // the least value has no positive twin
  }
  return static_cast<T>(a / b);
}

double least(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

double greatest(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <class T>
Array compare_as(const Call& call, const std::string& direction) {
  const auto with = [&](auto relation) { return map_two<T, uint8_t>(call, relation); };
  if (direction == "lt") return with([](T a, T b) { return a < b; });
  if (direction == "le") return with([](T a, T b) { return a <= b; });
  if (direction == "gt") return with([](T a, T b) { return a > b; });
  if (direction == "ge") return with([](T a, T b) { return a >= b; });
  if (direction == "eq") return with([](T a, T b) { return a == b; });
  CAPRA_CHECK(direction == "ne");  // the shape rule lets nothing else through
  return with([](T a, T b) { return a != b; });
}

using RealFunction = double (*)(double);

Array real(const Call& call, RealFunction function) { return map<double>(call, function); }

}  // namespace

Array run_add(const Call& call) {
  return arithmetic(
      call, [](double a, double b) { return a + b; },
      [](auto a, auto b) { return bits(a) + bits(b); });
}

Array run_sub(const Call& call) {
  return arithmetic(
      call, [](double a, double b) { return a - b; },
      [](auto a, auto b) { return bits(a) - bits(b); });
}

Array run_mul(const Call& call) {
  return arithmetic(
      call, [](double a, double b) { return a * b; },
      [](auto a, auto b) { return bits(a) * bits(b); });
}

Array run_div(const Call& call) {
  return arithmetic(
      call, [](double a, double b) { return a / b; },
      [](auto a, auto b) { return quotient(a, b); });
}

Array run_minimum(const Call& call) {
  return arithmetic(call, least, [](auto a, auto b) { return a < b ? a : b; });
}

Array run_maximum(const Call& call) {
  return arithmetic(call, greatest, [](auto a, auto b) { return a > b ? a : b; });
}

Array run_compare(const Call& call) {
  const std::string direction = call.attrs_as<CompareAttrs>().direction;
  return with_held(call.operand(0).dtype(),
                   [&](auto zero) { return compare_as<decltype(zero)>(call, direction); });
}

Array run_select(const Call& call) {
  Array result = call.make_result();
  const Array condition = expand(call.operand(0), result.sizes());
  const Array a = expand(call.operand(1), result.sizes());
  const Array b = expand(call.operand(2), result.sizes());
  with_held(result.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto out = result.mutable_as<T>();
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = condition.as<uint8_t>()[i] != 0 ? a.as<T>()[i] : b.as<T>()[i];
    }
  });
  return result;
}

Array run_logical_and(const Call& call) {
  return map_two<uint8_t, uint8_t>(call, [](uint8_t a, uint8_t b) { return a != 0 && b != 0; });
}

Array run_logical_or(const Call& call) {
  return map_two<uint8_t, uint8_t>(call, [](uint8_t a, uint8_t b) { return a != 0 || b != 0; });
}

Array run_logical_not(const Call& call) {
  return map<uint8_t>(call, [](uint8_t x) { return static_cast<uint8_t>(x == 0 ? 1 : 0); });
}

Array run_neg(const Call& call) {
  return with_held(call.operand(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, double>)
      return map<T>(call, [](double x) { return -x; });
    else
      return map<T>(call, [](T x) { return static_cast<T>(-bits(x)); });
  });
}

Array run_abs(const Call& call) {
  return with_held(call.operand(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, double>)
      return map<T>(call, [](double x) { return std::fabs(x); });
    else
      return map<T>(call, [](T x) { return x < 0 ? static_cast<T>(-bits(x)) : x; });
  });
}

// A type fixes the overload.
Array run_exp(const Call& call) { return real(call, static_cast<RealFunction>(std::exp)); }
Array run_log(const Call& call) { return real(call, static_cast<RealFunction>(std::log)); }
Array run_sqrt(const Call& call) { return real(call, static_cast<RealFunction>(std::sqrt)); }
Array run_tanh(const Call& call) { return real(call, static_cast<RealFunction>(std::tanh)); }
Array run_erf(const Call& call) { return real(call, static_cast<RealFunction>(std::erf)); }
Array run_erfc(const Call& call) { return real(call, static_cast<RealFunction>(std::erfc)); }

}  // namespace capra::interp
