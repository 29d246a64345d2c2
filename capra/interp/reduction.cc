// Ops over axes: each result element is a function of one row, once the reduced axes are last.
#include <cmath>
#include <limits>
#include <type_traits>

#include "capra/interp/primitive.h"
#include "capra/ops/argmax.h"
#include "capra/ops/reduction.h"

namespace capra::interp {
namespace {

// The operand with the kept axes first and the reduced ones last, as rows.
struct Rows {
  Array array;
  int64_t length = 1;

  Rows(const Array& x, const std::vector<int64_t>& reduced) {
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < static_cast<int64_t>(x.sizes().size()); ++axis) {
      if (std::ranges::find(reduced, axis) == reduced.end()) axes.push_back(axis);
    }
    for (const int64_t axis : reduced) {
      axes.push_back(axis);
      length *= x.sizes()[static_cast<size_t>(axis)];
    }
    array = with_axes(x, axes);
  }
};

// result[i] = function(row i)
template <class T, class R, class Function>
Array map_rows(const Call& call, const std::vector<int64_t>& axes, const Function& function) {
  const Rows rows(call.operand(0), axes);
  Array result = call.make_result();
  const std::span<const T> elements = rows.array.as<T>();
  const auto out = result.mutable_as<R>();
  const auto length = static_cast<size_t>(rows.length);
  call.pool.run(result.elements(), [&](int64_t row, int) {
    const auto i = static_cast<size_t>(row);
    out[i] = function(elements.subspan(i * length, length));
  });
  return result;
}

std::vector<int64_t> axes_of(const Call& call) {
  const auto rank = static_cast<int64_t>(call.operand(0).sizes().size());
  return reduced_axes(call.attrs_as<ReduceAttrs>().axes, rank).value_or_throw();
}

// Neumaier's compensated sum: the error does not grow with the length, and zeros among the elements
// (tokens of other texts, behind a mask) change no bit.
double sum_of(std::span<const double> row) {
  double sum = 0;
  double lost = 0;
  for (const double element : row) {
    const double next = sum + element;
    lost += std::fabs(sum) >= std::fabs(element) ? (sum - next) + element : (element - next) + sum;
    sum = next;
  }
  return std::isfinite(sum) ? sum + lost : sum;
}

template <class T>
T wrapped_sum_of(std::span<const T> row) {
  uint64_t sum = 0;
  for (const T element : row) sum += static_cast<uint64_t>(element);
  return static_cast<T>(sum);
}

// NaN if there is one; +0 is greater than -0; of nothing, the least value.
template <class T>
T max_of(std::span<const T> row) {
  if constexpr (std::is_same_v<T, double>) {
    double greatest = -std::numeric_limits<double>::infinity();
    for (const double element : row) {
      if (std::isnan(element)) return std::numeric_limits<double>::quiet_NaN();
      const bool positive_zero = element == 0 && greatest == 0 && !std::signbit(element);
      if (element > greatest || positive_zero) greatest = element;
    }
    return greatest;
  } else {
    T greatest = std::numeric_limits<T>::min();
    for (const T element : row) greatest = element > greatest ? element : greatest;
    return greatest;
  }
}

// The lowest index of the greatest element; the first NaN is greater than all.
template <class T>
int64_t argmax_of(std::span<const T> row) {
  size_t best = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i] != row[i]) return static_cast<int64_t>(i);
    if (row[i] > row[best]) best = i;
  }
  return static_cast<int64_t>(best);
}

}  // namespace

Array run_sum(const Call& call) {
  const std::vector<int64_t> axes = axes_of(call);
  return with_held(call.operand(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, double>)
      return map_rows<T, T>(call, axes, sum_of);
    else
      return map_rows<T, T>(call, axes, wrapped_sum_of<T>);
  });
}

Array run_max(const Call& call) {
  const std::vector<int64_t> axes = axes_of(call);
  return with_held(call.operand(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    return map_rows<T, T>(call, axes, max_of<T>);
  });
}

Array run_argmax(const Call& call) {
  const auto rank = static_cast<int64_t>(call.operand(0).sizes().size());
  const int64_t axis = normalize_axis(call.attrs_as<ArgmaxAttrs>().axis, rank).value_or_throw();
  return with_held(call.operand(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    return map_rows<T, int64_t>(call, {axis}, argmax_of<T>);
  });
}

}  // namespace capra::interp
