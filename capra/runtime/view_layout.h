// How a reshape or a slice of a tensor lies in the memory of that tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "capra/runtime/plan.h"

namespace capra {

/// Offset and strides in elements; no strides: row-major.
struct ViewLayout {
  int64_t offset = 0;
  std::vector<int64_t> strides;
  friend bool operator==(const ViewLayout&, const ViewLayout&) = default;
};

/// The layout of a reshape from `dims` that lie as `from` to `shape`; nothing if it needs a copy.
std::optional<ViewLayout> reshape_layout(std::span<const PlanDim> dims, const ViewLayout& from,
                                         std::span<const PlanDim> shape);

/// The layout of a slice with result extents `shape`; nothing if it needs a copy: steps other than
/// 1, or strides that depend on a symbol.
std::optional<ViewLayout> slice_layout(std::span<const PlanDim> dims, const ViewLayout& from,
                                       std::span<const int64_t> starts,
                                       std::span<const int64_t> steps,
                                       std::span<const PlanDim> shape);

}  // namespace capra
