// Rows of the ops that move elements.
#include <algorithm>
#include <numeric>
#include <string_view>

#include "capra/ops/broadcast.h"
#include "capra/ops/concat.h"
#include "capra/ops/constant.h"
#include "capra/ops/gather.h"
#include "capra/ops/iota.h"
#include "capra/ops/permute.h"
#include "capra/ops/reshape.h"
#include "capra/ops/slice.h"
#include "capra/passes/match.h"
#include "capra/targets/stablehlo/rows.h"

namespace capra::stablehlo {
namespace {

ValueId lower_broadcast(FunctionBuilder& builder, const Call& call) {
  return builder.broadcast(call.operands[0], call.type.shape);
}

ValueId lower_concat(FunctionBuilder& builder, const Call& call) {
  if (call.operands.size() == 1) return call.operands[0];
  const int64_t axis = position_of(unpack<ConcatAttrs>(call.attrs).axis, call.type.shape.rank());
  const std::vector<ValueId> parts(call.operands.begin(), call.operands.end());
  return builder.append({"stablehlo.concatenate", parts, call.type, {{"dim", axis}}});
}

ValueId lower_constant(FunctionBuilder& builder, const Call& call) {
  return builder.constant(unpack<ConstantAttrs>(call.attrs).value);
}

// The size of each slice is written into the operation, so the other dims of the table are numbers.
bool takes_gather(TypeRefs operands, const Attrs& attrs, const TensorType&) {
  const Shape& table = operands[0]->shape;
  const int64_t axis = position_of(unpack<GatherAttrs>(attrs).axis, table.rank());
  for (int64_t i = 0; i < table.rank(); ++i) {
    if (i != axis && !table[i].is_static()) return false;
  }
  return true;
}

constexpr std::string_view kGatherHelp =
    "give each axis of the table but the one that is indexed a fixed extent";

ValueId lower_gather(FunctionBuilder& builder, const Call& call) {
  const Shape table = builder.type(call.operands[0]).shape;
  const Shape indices = builder.type(call.operands[1]).shape;
  const int64_t axis = position_of(unpack<GatherAttrs>(call.attrs).axis, table.rank());
  // No slice fits an empty axis: there are no indices, and nothing is picked.
  if (table[axis] == Dim(0)) {
    return builder.zeros(call.type);
  }
  // The axes of the indices stand in the place of the axis, those of the slices around them.
  std::vector<int64_t> offset_dims;
  std::vector<int64_t> slice_sizes;
  for (int64_t i = 0; i < table.rank(); ++i) {
    slice_sizes.push_back(i == axis ? 1 : table[i].size());
    if (i != axis) offset_dims.push_back(i < axis ? i : i + indices.rank() - 1);
  }
  return builder.append({"stablehlo.gather",
                         {call.operands[0], call.operands[1]},
                         call.type,
                         {{"offset_dims", std::move(offset_dims)},
                          {"axis", axis},
                          {"index_vector_dim", indices.rank()},
                          {"slice_sizes", std::move(slice_sizes)}}});
}

ValueId lower_iota(FunctionBuilder& builder, const Call& call) {
  const Shape& shape = call.type.shape;
  const int64_t axis = position_of(unpack<IotaAttrs>(call.attrs).axis, shape.rank());
  // Counts wrap to a narrow integer and round to a narrow float only if they are made wide enough.
  const ValueId counts = builder.iota(shape, axis);
  return builder.convert(counts, call.type.dtype);
}

ValueId lower_permute(FunctionBuilder& builder, const Call& call) {
  std::vector<int64_t> axes = unpack<PermuteAttrs>(call.attrs).axes;
  for (int64_t& axis : axes) axis = position_of(axis, call.type.shape.rank());
  return builder.append(
      {"stablehlo.transpose", {call.operands[0]}, call.type, {{"dims", std::move(axes)}}});
}

ValueId lower_reshape(FunctionBuilder& builder, const Call& call) {
  return builder.reshape(call.operands[0], call.type.shape);
}

ValueId lower_slice(FunctionBuilder& builder, const Call& call) {
  auto attrs = unpack<SliceAttrs>(call.attrs);
  const ValueId x = call.operands[0];
  if (attrs.strides.empty()) attrs.strides.assign(attrs.starts.size(), 1);
  if (attrs.limits.is_static()) {
    return builder.append({"stablehlo.slice",
                           {x},
                           call.type,
                           {{"starts", std::move(attrs.starts)},
                            {"limits", attrs.limits.sizes()},
                            {"strides", std::move(attrs.strides)}}});
  }
  if (builder.type(x) == call.type) return x;  // all of it
  const ValueId starts = builder.constant(index_array(attrs.starts));
  const ValueId limits = builder.extents(attrs.limits);
  const ValueId strides = builder.constant(index_array(attrs.strides));
  return builder.append({"stablehlo.real_dynamic_slice", {x, starts, limits, strides}, call.type});
}

}  // namespace

constinit const StablehloRow kDataRows[8] = {
    {{.op = &kBroadcast}, lower_broadcast},
    {{.op = &kConcat}, lower_concat},
    {{.op = &kConstant}, lower_constant},
    {{.op = &kGather, .takes = takes_gather, .help = kGatherHelp}, lower_gather},
    {{.op = &kIota}, lower_iota},
    {{.op = &kPermute}, lower_permute},
    {{.op = &kReshape}, lower_reshape},
    {{.op = &kSlice}, lower_slice},
};

}  // namespace capra::stablehlo
