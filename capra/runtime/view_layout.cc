// Strides are known at planning time where all extents but the outermost are numbers.
#include "capra/runtime/view_layout.h"

#include <algorithm>

namespace capra {
namespace {

using Dims = std::span<const PlanDim>;

// Row-major strides, if no extent but the outermost is symbolic.
std::optional<std::vector<int64_t>> row_major(Dims dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t step = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    strides[axis] = step;
    if (dims[axis].symbol < 0) {
      step *= dims[axis].size;
    } else if (axis != 0) {
      return std::nullopt;
    }
  }
  return strides;
}

bool is_one(const PlanDim& dim) { return dim.symbol < 0 && dim.size == 1; }

// Drops strides that say no more than row-major order.
ViewLayout simplified(int64_t offset, Dims dims, std::vector<int64_t> strides) {
  const auto plain = row_major(dims);
  if (plain) {
    bool same = true;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      same = same && (is_one(dims[axis]) || strides[axis] == (*plain)[axis]);
    }
    if (same) strides.clear();
  }
  return {offset, std::move(strides)};
}

// Strides of `shape` over numbers `dims` with `strides`: runs of extents whose products agree must
// be regular in memory.
std::optional<std::vector<int64_t>> regroup(Dims dims, std::span<const int64_t> strides,
                                            Dims shape) {
  std::vector<int64_t> old_dims;
  std::vector<int64_t> old_strides;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis].symbol >= 0) return std::nullopt;
    if (dims[axis].size == 1) continue;
    old_dims.push_back(dims[axis].size);
    old_strides.push_back(strides[axis]);
  }
  for (const PlanDim& dim : shape) {
    if (dim.symbol >= 0 || dim.size == 0) return std::nullopt;
  }
  std::vector<int64_t> result(shape.size(), 1);
  size_t old_begin = 0;
  size_t new_begin = 0;
  while (old_begin < old_dims.size()) {
    size_t old_end = old_begin + 1;
    size_t new_end = new_begin;
    int64_t old_product = old_dims[old_begin];
    int64_t new_product = 1;
    while (old_product != new_product) {
      if (new_product < old_product) {
        if (new_end == shape.size()) return std::nullopt;
        new_product *= shape[new_end++].size;
      } else {
        if (old_end == old_dims.size()) return std::nullopt;
        old_product *= old_dims[old_end++];
      }
    }
    for (size_t axis = old_begin; axis + 1 < old_end; ++axis) {
      if (old_strides[axis] != old_strides[axis + 1] * old_dims[axis + 1]) return std::nullopt;
    }
    int64_t step = old_strides[old_end - 1];
    for (size_t axis = new_end; axis-- > new_begin;) {
      result[axis] = step;
      step *= shape[axis].size;
    }
    old_begin = old_end;
    new_begin = new_end;
  }
  return result;
}

}  // namespace

namespace {

// Steps that take strides count on rows without gaps (Step::takes_strided).
bool has_whole_rows(Dims dims, std::span<const int64_t> strides) {
  return dims.empty() || is_one(dims.back()) || strides.back() == 1;
}

}  // namespace

std::optional<ViewLayout> reshape_layout(Dims dims, const ViewLayout& from, Dims shape) {
  if (from.strides.empty()) return ViewLayout{from.offset, {}};
  const std::span<const int64_t> strides(from.strides);
  // A symbolic outermost extent must stay what it is.
  if (!dims.empty() && !shape.empty() && dims[0] == shape[0]) {
    const auto inner = regroup(dims.subspan(1), strides.subspan(1), shape.subspan(1));
    if (inner) {
      std::vector<int64_t> all{strides[0]};
      all.insert(all.end(), inner->begin(), inner->end());
      if (!has_whole_rows(shape, all)) return std::nullopt;
      return simplified(from.offset, shape, std::move(all));
    }
  }
  auto all = regroup(dims, strides, shape);
  if (!all || !has_whole_rows(shape, *all)) return std::nullopt;
  return simplified(from.offset, shape, *std::move(all));
}

std::optional<ViewLayout> slice_layout(Dims dims, const ViewLayout& from,
                                       std::span<const int64_t> starts,
                                       std::span<const int64_t> steps, Dims shape) {
  if (std::ranges::any_of(steps, [](int64_t step) { return step != 1; })) return std::nullopt;
  std::vector<int64_t> strides = from.strides;
  if (strides.empty()) {
    const auto plain = row_major(dims);
    if (!plain) return std::nullopt;
    strides = *plain;
  }
  int64_t offset = from.offset;
  for (size_t axis = 0; axis < dims.size(); ++axis) offset += starts[axis] * strides[axis];
  return simplified(offset, shape, std::move(strides));
}

}  // namespace capra
