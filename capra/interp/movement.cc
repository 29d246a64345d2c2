// Ops that move, make or convert elements.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "capra/base/number_text.h"
#include "capra/interp/interp.h"
#include "capra/interp/primitive.h"
#include "capra/ops/concat.h"
#include "capra/ops/constant.h"
#include "capra/ops/convert.h"
#include "capra/ops/gather.h"
#include "capra/ops/iota.h"
#include "capra/ops/permute.h"
#include "capra/ops/slice.h"

namespace capra::interp {
namespace {

int64_t product(std::span<const int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

// Sizes before and after an axis, multiplied: an array is `outer` blocks of extent * `inner`.
struct AroundAxis {
  int64_t outer;
  int64_t inner;
  AroundAxis(const std::vector<int64_t>& sizes, int64_t axis)
      : outer(product(std::span(sizes).first(static_cast<size_t>(axis)))),
        inner(product(std::span(sizes).subspan(static_cast<size_t>(axis) + 1))) {}
};

template <class T>
void take_elements(const Array& source, Array& result, const std::vector<int64_t>& strides,
                   int64_t offset) {
  const std::vector<int64_t>& sizes = result.sizes();
  const T* from = source.as<T>().data();
  std::vector<int64_t> index(sizes.size());
  for (T& element : result.mutable_as<T>()) {
    element = from[offset];
    // The next index in row-major order, and the offset that goes with it.
    for (size_t axis = sizes.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < sizes[axis]) break;
      offset -= strides[axis] * sizes[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace

std::vector<int64_t> row_major_strides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= sizes[axis];
  }
  return strides;
}

Array take(const Array& source, std::vector<int64_t> sizes, std::vector<int64_t> strides,
           int64_t offset) {
  Array result = Array::zeros(source.dtype(), std::move(sizes));
  with_held(source.dtype(),
            [&](auto zero) { take_elements<decltype(zero)>(source, result, strides, offset); });
  return result;
}

Array expand(const Array& source, const std::vector<int64_t>& sizes) {
  if (source.sizes() == sizes) return source;
  const std::vector<int64_t> own = row_major_strides(source.sizes());
  const size_t added = sizes.size() - source.sizes().size();
  std::vector<int64_t> strides(sizes.size());
  for (size_t axis = added; axis < sizes.size(); ++axis) {
    strides[axis] = source.sizes()[axis - added] == 1 ? 0 : own[axis - added];
  }
  return take(source, sizes, std::move(strides), 0);
}

Array with_axes(const Array& source, const std::vector<int64_t>& axes) {
  const std::vector<int64_t> own = row_major_strides(source.sizes());
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  for (const int64_t axis : axes) {
    sizes.push_back(source.sizes()[static_cast<size_t>(axis)]);
    strides.push_back(own[static_cast<size_t>(axis)]);
  }
  return take(source, std::move(sizes), std::move(strides), 0);
}

Array run_permute(const Call& call) {
  std::vector<int64_t> axes = call.attrs_as<PermuteAttrs>().axes;
  const auto rank = static_cast<int64_t>(axes.size());
  for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  return with_axes(call.operand(0), axes);
}

Array run_reshape(const Call& call) { return call.operand(0).reshaped(call.result.shape.sizes()); }

Array run_slice(const Call& call) {
  const auto attrs = call.attrs_as<SliceAttrs>();
  const Array& x = call.operand(0);
  const std::vector<int64_t> sizes = call.result.shape.sizes();
  std::vector<int64_t> strides = row_major_strides(x.sizes());
  int64_t offset = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    offset += attrs.starts[axis] * strides[axis];
    // A step that nothing takes may be of any size.
    const int64_t step = attrs.strides.empty() ? 1 : attrs.strides[axis];
    strides[axis] = sizes[axis] <= 1 ? 0 : strides[axis] * step;
  }
  return take(x, sizes, std::move(strides), offset);
}

Array run_broadcast(const Call& call) { return expand(call.operand(0), call.result.shape.sizes()); }

Array run_concat(const Call& call) {
  Array result = call.make_result();
  const int64_t rank = call.result.shape.rank();
  const int64_t axis = normalize_axis(call.attrs_as<ConcatAttrs>().axis, rank).value_or_throw();
  const AroundAxis around(result.sizes(), axis);
  const size_t element = dtype_bytes(result.dtype());
  std::byte* out = result.mutable_data();
  for (int64_t outer = 0; outer < around.outer; ++outer) {
    for (const Array& part : call.operands) {
      const int64_t extent = part.sizes()[static_cast<size_t>(axis)];
      const size_t bytes = static_cast<size_t>(extent * around.inner) * element;
      if (bytes == 0) continue;
      std::memcpy(out, part.data() + static_cast<size_t>(outer) * bytes, bytes);
      out += bytes;
    }
  }
  return result;
}

Array run_gather(const Call& call) {
  const Array& table = call.operand(0);
  const Array& indices = call.operand(1);
  Array result = call.make_result();
  const auto rank = static_cast<int64_t>(table.sizes().size());
  const int64_t axis = normalize_axis(call.attrs_as<GatherAttrs>().axis, rank).value_or_throw();
  const AroundAxis around(table.sizes(), axis);
  const int64_t extent = table.sizes()[static_cast<size_t>(axis)];
  const size_t bytes = static_cast<size_t>(around.inner) * dtype_bytes(table.dtype());
  for (int64_t i = 0; i < indices.elements(); ++i) {
    const int64_t row = indices.i64_at(i);  // a u64 beyond i64 comes out negative
    if (row < 0 || row >= extent) {
      const std::string found = indices.dtype() == DType::U64
                                    ? number_text(static_cast<uint64_t>(row))
                                    : number_text(row);
      throw Error({"index-out-of-range",
                   "gather: index " + found + " is outside [0, " + number_text(extent) + ")"});
    }
  }
  std::byte* out = result.mutable_data();
  for (int64_t outer = 0; outer < around.outer; ++outer) {
    for (int64_t i = 0; i < indices.elements() && bytes > 0; ++i) {
      const auto row = static_cast<size_t>(outer * extent + indices.i64_at(i));
      std::memcpy(out, table.data() + row * bytes, bytes);
      out += bytes;
    }
  }
  return result;
}

Array run_constant(const Call& call) { return interp_array(call.attrs_as<ConstantAttrs>().value); }

Array run_convert(const Call& call) {
  const Array& x = call.operand(0);
  const DType to = call.attrs_as<ConvertAttrs>().dtype;
  Array result = call.make_result();
  over_ranges(call.pool, result.elements(), [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) convert_element(x, i, to, result);
  });
  return result;
}

Array run_iota(const Call& call) {
  const auto attrs = call.attrs_as<IotaAttrs>();
  Array result = call.make_result();
  const int64_t axis = normalize_axis(attrs.axis, call.result.shape.rank()).value_or_throw();
  const AroundAxis around(result.sizes(), axis);
  const int64_t extent = result.sizes()[static_cast<size_t>(axis)];
  for (int64_t i = 0; i < result.elements(); ++i) {
    const int64_t count = i / around.inner % extent;
    if (is_float(attrs.dtype))
      result.set(i, round_to(attrs.dtype, static_cast<double>(count)));
    else
      result.set_i64(i, count);
  }
  return result;
}

}  // namespace capra::interp
