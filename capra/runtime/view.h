// A tensor as kernels see it in one run: numbers for its extents, element strides, and an address.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "capra/ir/array.h"
#include "capra/ir/dtype.h"

namespace capra {

/// The most dims a tensor may have when it is executed.
inline constexpr int kMaxRunRank = 16;

/// Memory of a known shape. Strides are in elements; the memory belongs to someone else.
struct View {
  DType dtype = DType::F32;
  int rank = 0;
  std::byte* data = nullptr;
  std::array<int64_t, kMaxRunRank> dims{};
  std::array<int64_t, kMaxRunRank> strides{};

  int64_t elements() const {
    int64_t product = 1;
    for (int axis = 0; axis < rank; ++axis) product *= dims[static_cast<size_t>(axis)];
    return product;
  }
  int64_t dim(int axis) const { return dims[static_cast<size_t>(axis)]; }
  int64_t stride(int axis) const { return strides[static_cast<size_t>(axis)]; }
  size_t byte_size() const { return static_cast<size_t>(elements()) * dtype_bytes(dtype); }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }

  /// Sets row-major strides.
  void set_contiguous() {
    int64_t step = 1;
    for (int axis = rank; axis-- > 0;) {
      strides[static_cast<size_t>(axis)] = step;
      step *= dims[static_cast<size_t>(axis)];
    }
  }
  /// Whether the elements lie row-major with no gaps (strides of extents 0 and 1 do not matter).
  bool is_contiguous() const {
    int64_t step = 1;
    for (int axis = rank; axis-- > 0;) {
      const int64_t extent = dim(axis);
      if (extent == 0) return true;
      if (extent != 1 && stride(axis) != step) return false;
      step *= extent;
    }
    return true;
  }

  /// The whole of an array, which is only read through it.
  static View of(const Array& array) {
    View view;
    view.dtype = array.dtype();
    view.rank = static_cast<int>(array.sizes().size());
    CAPRA_CHECK(view.rank <= kMaxRunRank);
    for (size_t axis = 0; axis < array.sizes().size(); ++axis)
      view.dims[axis] = array.sizes()[axis];
    view.set_contiguous();
    view.data = const_cast<std::byte*>(array.data());
    return view;
  }
};

}  // namespace capra
