// Rows of the ops that move elements: reshape, permute, slice, broadcast, concat, gather, iota,
// constant.
#include <array>
#include <cstring>
#include <vector>

#include "capra/ops/broadcast.h"
#include "capra/ops/concat.h"
#include "capra/ops/constant.h"
#include "capra/ops/gather.h"
#include "capra/ops/iota.h"
#include "capra/ops/permute.h"
#include "capra/ops/reshape.h"
#include "capra/ops/slice.h"
#include "capra/targets/cpu/kernels/data_movement.h"
#include "capra/targets/cpu/kernels/elementwise.h"
#include "capra/targets/cpu/rows.h"

namespace capra::cpu {
namespace {

using Strides = std::array<int64_t, kMaxRunRank>;

void copy_strided(const StepCall& call, const std::byte* data, const Strides& strides) {
  const View& out = call.result;
  split(call.pool, out.elements(), kGrain, [&](int64_t begin, int64_t end, int) {
    kernels::copy_strided(dtype_bytes(out.dtype), {data, strides.data()}, out.data, out.rank,
                          out.dims.data(), {begin, end});
  });
}

Result<std::unique_ptr<Step>> make_reshape(const StepRequest&, const KernelTable&) {
  // The operand's elements in its own row-major order, wherever they lie.
  return strided_step([](const StepCall& call) {
    const View& x = *call.operands[0];
    split(call.pool, x.elements(), kGrain, [&](int64_t begin, int64_t end, int) {
      kernels::copy_strided(dtype_bytes(x.dtype), {x.data, x.strides.data()}, call.result.data,
                            x.rank, x.dims.data(), {begin, end});
    });
  });
}

Result<std::unique_ptr<Step>> make_permute(const StepRequest& request, const KernelTable&) {
  return strided_step([axes = request.node.attrs_as<PermuteAttrs>().axes](const StepCall& call) {
    const View& x = *call.operands[0];
    Strides strides{};
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      const int64_t from = axes[axis] < 0 ? axes[axis] + x.rank : axes[axis];
      strides[axis] = x.strides[static_cast<size_t>(from)];
    }
    copy_strided(call, x.data, strides);
  });
}

Result<std::unique_ptr<Step>> make_slice(const StepRequest& request, const KernelTable&) {
  const auto attrs = request.node.attrs_as<SliceAttrs>();
  return strided_step([starts = attrs.starts, steps = attrs.strides](const StepCall& call) {
    const View& x = *call.operands[0];
    Strides strides{};
    int64_t offset = 0;
    for (size_t axis = 0; axis < starts.size(); ++axis) {
      offset += starts[axis] * x.strides[axis];
      // A step that nothing takes may be of any size.
      const int64_t step = steps.empty() ? 1 : steps[axis];
      strides[axis] = call.result.dims[axis] <= 1 ? 0 : x.strides[axis] * step;
    }
    const auto bytes = static_cast<int64_t>(dtype_bytes(x.dtype));
    copy_strided(call, x.data + offset * bytes, strides);
  });
}

Result<std::unique_ptr<Step>> make_broadcast(const StepRequest&, const KernelTable&) {
  return strided_step([](const StepCall& call) {
    const View& x = *call.operands[0];
    const int lead = call.result.rank - x.rank;
    Strides strides{};
    for (int axis = 0; axis < x.rank; ++axis) {
      if (x.dim(axis) != 1)
        strides[static_cast<size_t>(axis) + static_cast<size_t>(lead)] = x.stride(axis);
    }
    copy_strided(call, x.data, strides);
  });
}

// Extents before, at and after an axis.
struct AxisSplit {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;
};
AxisSplit split_axis(const View& view, int axis) {
  AxisSplit parts;
  for (int at = 0; at < view.rank; ++at) {
    if (at < axis) parts.outer *= view.dim(at);
    if (at == axis) parts.extent = view.dim(at);
    if (at > axis) parts.inner *= view.dim(at);
  }
  return parts;
}

int axis_of(int64_t axis, int64_t rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }

Result<std::unique_ptr<Step>> make_concat(const StepRequest& request, const KernelTable&) {
  const int axis =
      axis_of(request.node.attrs_as<ConcatAttrs>().axis, request.node.type.shape.rank());
  return contiguous_step([axis](const StepCall& call) {
    const View& out = call.result;
    const AxisSplit whole = split_axis(out, axis);
    const size_t bytes = dtype_bytes(out.dtype);
    int64_t offset = 0;
    for (const View* part : call.operands) {
      const int64_t columns = part->dim(axis) * whole.inner;
      split(call.pool, whole.outer, row_grain(columns), [&](int64_t begin, int64_t end, int) {
        kernels::copy_into_columns(
            bytes, part->data + static_cast<size_t>(begin * columns) * bytes, end - begin, columns,
            out.data + static_cast<size_t>(begin * whole.extent * whole.inner) * bytes,
            whole.extent * whole.inner, offset);
      });
      offset += columns;
    }
  });
}

Failure index_failure(const View& indices, int64_t at, int64_t limit) {
  int64_t value = 0;
  const size_t bytes = dtype_bytes(indices.dtype);
  kernels::convert(element_of(indices.dtype), indices.data + static_cast<size_t>(at) * bytes,
                   Element::I64, &value, 1);
  return fail("index-out-of-range",
              "index " + std::to_string(value) + " at position " + std::to_string(at) +
                  " is outside [0, " + std::to_string(limit) + ")",
              {}, "give indices within the table");
}

Result<std::unique_ptr<Step>> make_gather(const StepRequest& request, const KernelTable&) {
  const int axis =
      axis_of(request.node.attrs_as<GatherAttrs>().axis, request.operands[0]->shape.rank());
  return contiguous_step([axis](const StepCall& call) -> Status {
    const View& table = *call.operands[0];
    const View& indices = *call.operands[1];
    const AxisSplit parts = split_axis(table, axis);
    const int64_t count = indices.elements();
    const Element index_type = element_of(indices.dtype);
    const int64_t bad =
        kernels::find_index_out_of_range(index_type, indices.data, count, parts.extent);
    if (bad >= 0) return index_failure(indices, bad, parts.extent);
    const size_t bytes = dtype_bytes(table.dtype);
    const auto inner_bytes = static_cast<size_t>(parts.inner) * bytes;
    for (int64_t outer = 0; outer < parts.outer; ++outer) {
      const std::byte* from = table.data + static_cast<size_t>(outer * parts.extent) * inner_bytes;
      std::byte* to = call.result.data + static_cast<size_t>(outer * count) * inner_bytes;
      split(call.pool, count, row_grain(parts.inner), [&](int64_t begin, int64_t end, int) {
        kernels::gather(bytes, from, 1, parts.extent, parts.inner, index_type,
                        indices.data + static_cast<size_t>(begin) * dtype_bytes(indices.dtype),
                        end - begin, to + static_cast<size_t>(begin) * inner_bytes);
      });
    }
    return {};
  });
}

Result<std::unique_ptr<Step>> make_iota(const StepRequest& request, const KernelTable&) {
  const int axis = axis_of(request.node.attrs_as<IotaAttrs>().axis, request.node.type.shape.rank());
  return contiguous_step([axis](const StepCall& call) {
    const AxisSplit parts = split_axis(call.result, axis);
    kernels::iota(element_of(call.result.dtype), parts.outer, parts.extent, parts.inner,
                  call.result.data);
  });
}

Result<std::unique_ptr<Step>> make_constant(const StepRequest& request, const KernelTable&) {
  return contiguous_step(
      [value = request.node.attrs_as<ConstantAttrs>().value](const StepCall& call) {
        std::memcpy(call.result.data, value.data(), value.byte_size());
      });
}

}  // namespace

constinit const CpuRow kDataRows[] = {
    {{&kReshape}, make_reshape},     {{&kPermute}, make_permute},   {{&kSlice}, make_slice},
    {{&kBroadcast}, make_broadcast}, {{&kConcat}, make_concat},     {{&kGather}, make_gather},
    {{&kIota}, make_iota},           {{&kConstant}, make_constant},
};

Status read_indices(const View& indices, int64_t limit, int64_t* out) {
  const int64_t count = indices.elements();
  const Element type = element_of(indices.dtype);
  const int64_t bad = kernels::find_index_out_of_range(type, indices.data, count, limit);
  if (bad >= 0) return index_failure(indices, bad, limit);
  kernels::convert(type, indices.data, Element::I64, out, count);
  return {};
}

}  // namespace capra::cpu
