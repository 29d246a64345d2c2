// What a primitive of the oracle is: a record and the function that computes it.
#pragma once

#include <cstdint>
#include <span>

#include "capra/base/thread_pool.h"
#include "capra/ir/op_def.h"

namespace capra::interp {

/// One call. Float operands are f64; `result` is the type of what is to be returned.
struct Call {
  std::span<const Array> operands;
  const Attrs& attrs;
  const TensorType& result;
  ThreadPool& pool;

  const Array& operand(size_t index) const { return operands[index]; }
  template <class A>
  A attrs_as() const {
    return unpack<A>(attrs);
  }
  Array make_result() const { return Array::zeros(result.dtype, result.shape.sizes()); }
};

using RunFn = Array (*)(const Call& call);

struct Primitive {
  const OpDef* op;
  RunFn run;
};

// Elementwise.
Array run_add(const Call& call);
Array run_sub(const Call& call);
Array run_mul(const Call& call);
Array run_div(const Call& call);
Array run_minimum(const Call& call);
Array run_maximum(const Call& call);
Array run_compare(const Call& call);
Array run_select(const Call& call);
Array run_logical_and(const Call& call);
Array run_logical_or(const Call& call);
Array run_logical_not(const Call& call);
Array run_neg(const Call& call);
Array run_abs(const Call& call);
Array run_exp(const Call& call);
Array run_log(const Call& call);
Array run_sqrt(const Call& call);
Array run_tanh(const Call& call);
Array run_erf(const Call& call);
Array run_erfc(const Call& call);
// Where elements come from.
Array run_permute(const Call& call);
Array run_reshape(const Call& call);
Array run_slice(const Call& call);
Array run_concat(const Call& call);
Array run_gather(const Call& call);
Array run_broadcast(const Call& call);
Array run_constant(const Call& call);
Array run_convert(const Call& call);
Array run_iota(const Call& call);
// Over axes.
Array run_sum(const Call& call);
Array run_max(const Call& call);
Array run_argmax(const Call& call);
Array run_matmul(const Call& call);

/// The dtype in which the oracle holds `dtype`.
inline DType held(DType dtype) { return is_float(dtype) ? DType::F64 : dtype; }

/// Elements of `source` at offset + sum of index[d] * strides[d], for each index of `sizes`.
/// Strides count elements; 0 repeats.
Array take(const Array& source, std::vector<int64_t> sizes, std::vector<int64_t> strides,
           int64_t offset);

/// Distance in elements between neighbours along each axis of a row-major array.
std::vector<int64_t> row_major_strides(const std::vector<int64_t>& sizes);

/// `source` repeated to `sizes` (NumPy broadcasting); itself when it has these sizes.
Array expand(const Array& source, const std::vector<int64_t>& sizes);

/// `source` with axis i taken from axis axes[i].
Array with_axes(const Array& source, const std::vector<int64_t>& axes);

/// Calls `body(first, last)` for ranges that cover [0, count), on several threads when it pays.
/// Each element belongs to one range, so results do not depend on how they are cut.
template <class Body>
void over_ranges(ThreadPool& pool, int64_t count, const Body& body) {
  constexpr int64_t kRange = 16384;
  const int64_t ranges = (count + kRange - 1) / kRange;
  pool.run(ranges, [&](int64_t range, int) {
    const int64_t first = range * kRange;
    body(first, first + kRange < count ? first + kRange : count);
  });
}

/// Calls `function` with a value of the C++ type of an integer dtype.
template <class Function>
auto with_integer(DType dtype, const Function& function) {
  switch (dtype) {
    case DType::I64:
      return function(int64_t{});
    case DType::I32:
      return function(int32_t{});
    case DType::I16:
      return function(int16_t{});
    case DType::I8:
      return function(int8_t{});
    case DType::U64:
      return function(uint64_t{});
    case DType::U32:
      return function(uint32_t{});
    case DType::U16:
      return function(uint16_t{});
    default:
      return function(uint8_t{});  // u8, and bool as 0 or 1
  }
}

/// Calls `function` with a value of the C++ type in which elements of `dtype` are held.
template <class Function>
auto with_held(DType dtype, const Function& function) {
  return is_float(dtype) ? function(double{}) : with_integer(dtype, function);
}

}  // namespace capra::interp
