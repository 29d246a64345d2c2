// Tensor data in memory: a static type and shared bytes, row-major and contiguous.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "capra/base/buffer.h"
#include "capra/ir/shape.h"

namespace capra {

/// Shared tensor data; copying shares. The bytes are row-major with no gaps.
class Array {
 public:
  Array() = default;
  /// Zeros of a static type.
  static Array zeros(DType dtype, std::vector<int64_t> sizes);
  /// A view of `buffer` from `offset` bytes; the bytes must be there and aligned for the dtype.
  static Array view(DType dtype, std::vector<int64_t> sizes, std::shared_ptr<Buffer> buffer,
                    size_t offset = 0);
  /// A copy of values whose type is the C++ type of the dtype (f16, bf16 as uint16_t; bool as
  /// uint8_t with DType given).
  template <class T>
  static Array of(DType dtype, std::vector<int64_t> sizes, std::span<const T> values);
  /// One number rounded once to `dtype`, as a scalar. Integers: toward zero, saturating, 0 for NaN.
  static Array scalar(DType dtype, double value);

  explicit operator bool() const { return buffer_ != nullptr; }
  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  TensorType type() const { return {dtype_, Shape(sizes_)}; }
  int64_t elements() const { return elements_; }
  size_t byte_size() const { return static_cast<size_t>(elements_) * dtype_bytes(dtype_); }

  const std::byte* data() const { return buffer_->data() + offset_; }
  std::byte* mutable_data() { return buffer_->data() + offset_; }
  template <class T>
  std::span<const T> as() const {
    CAPRA_CHECK(sizeof(T) == dtype_bytes(dtype_));
    return {reinterpret_cast<const T*>(data()), static_cast<size_t>(elements_)};
  }
  template <class T>
  std::span<T> mutable_as() {
    CAPRA_CHECK(sizeof(T) == dtype_bytes(dtype_));
    return {reinterpret_cast<T*>(mutable_data()), static_cast<size_t>(elements_)};
  }

  /// Element `index` as a double (integers beyond 2^53 round; use `i64_at` for those).
  double f64_at(int64_t index) const;
  /// Element `index` as an integer: u64 keeps its bits, floats go toward zero and saturate.
  int64_t i64_at(int64_t index) const;
  /// Rounds `value` once to the dtype and stores it. Integers: toward zero, saturating, 0 for NaN;
  /// bool: whether it differs from 0.
  void set(int64_t index, double value);
  void set_i64(int64_t index, int64_t value);  ///< integers wrap

  /// For data in a file mapping: lets the system take its memory back (see Buffer::drop_pages).
  void drop_pages() const {
    if (buffer_ != nullptr) buffer_->drop_pages(offset_, byte_size());
  }

  /// The same bytes under another shape of equally many elements.
  Array reshaped(std::vector<int64_t> sizes) const;

  /// Equal type and equal bytes.
  friend bool operator==(const Array& a, const Array& b);

 private:
  DType dtype_ = DType::F32;
  std::vector<int64_t> sizes_;
  int64_t elements_ = 0;
  std::shared_ptr<Buffer> buffer_;
  size_t offset_ = 0;
};

template <class T>
Array Array::of(DType dtype, std::vector<int64_t> sizes, std::span<const T> values) {
  Array array = zeros(dtype, std::move(sizes));
  CAPRA_CHECK(static_cast<size_t>(array.elements()) == values.size());
  std::ranges::copy(values, array.mutable_as<T>().begin());
  return array;
}

}  // namespace capra
