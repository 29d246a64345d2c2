// Array storage, and element access with one rounding (floats), saturation or wrapping (integers).
#include "capra/ir/array.h"

#include <cstring>
#include <limits>
#include <utility>

#include "capra/base/half.h"

namespace capra {
namespace {

int64_t element_count(DType dtype, const std::vector<int64_t>& sizes) {
  for (const int64_t size : sizes) CAPRA_CHECK(size >= 0);
  const std::optional<int64_t> elements = Shape(sizes).elements();
  CAPRA_CHECK(elements.has_value());
  CAPRA_CHECK(*elements <=
              std::numeric_limits<int64_t>::max() / static_cast<int64_t>(dtype_bytes(dtype)));
  return *elements;
}

template <class T>
T load(const std::byte* data, int64_t index) {
  T value;
  std::memcpy(&value, data + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(std::byte* data, int64_t index, T value) {
  std::memcpy(data + static_cast<size_t>(index) * sizeof(T), &value, sizeof(T));
}

// Toward zero, saturating; NaN gives 0.
template <class T>
T saturate(double value) {
  if (!(value == value)) return 0;
  // For 64 bits the maximum rounds up to a power of two, which no T holds, so >= is right.
  if (value >= static_cast<double>(std::numeric_limits<T>::max())) {
    return std::numeric_limits<T>::max();
  }
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  return static_cast<T>(value);
}

// The mathematical value wraps: conversion between integer types is modulo 2^bits.
template <class T>
void store_wrapped(std::byte* data, int64_t index, int64_t value) {
  store<T>(data, index, static_cast<T>(static_cast<uint64_t>(value)));
}

// A double from which rounding to 16 bits equals rounding `value`: exact up to 2^53, then to odd.
double odd_f64(int64_t value) {
  constexpr int64_t kExact = int64_t{1} << 53;
  const int64_t low = value & 0x3ff;
  if (low == 0 || (value > -kExact && value < kExact)) return static_cast<double>(value);
  return static_cast<double>((value - low) | 0x400);
}

}  // namespace

Array Array::zeros(DType dtype, std::vector<int64_t> sizes) {
  Array array;
  array.dtype_ = dtype;
  array.elements_ = element_count(dtype, sizes);
  array.sizes_ = std::move(sizes);
  array.buffer_ = Buffer::allocate(array.byte_size());
  return array;
}

Array Array::view(DType dtype, std::vector<int64_t> sizes, std::shared_ptr<Buffer> buffer,
                  size_t offset) {
  CAPRA_CHECK(buffer != nullptr);
  Array array;
  array.dtype_ = dtype;
  array.elements_ = element_count(dtype, sizes);
  array.sizes_ = std::move(sizes);
  CAPRA_CHECK(offset <= buffer->size() && array.byte_size() <= buffer->size() - offset);
  CAPRA_CHECK(reinterpret_cast<uintptr_t>(buffer->data() + offset) % dtype_bytes(dtype) == 0);
  array.buffer_ = std::move(buffer);
  array.offset_ = offset;
  return array;
}

Array Array::scalar(DType dtype, double value) {
  Array array = zeros(dtype, {});
  array.set(0, value);
  return array;
}

double Array::f64_at(int64_t index) const {
  CAPRA_CHECK(index >= 0 && index < elements_);
  switch (dtype_) {
    case DType::F64:
      return load<double>(data(), index);
    case DType::F32:
      return load<float>(data(), index);
    case DType::F16:
      return f16_to_f32(load<uint16_t>(data(), index));
    case DType::BF16:
      return bf16_to_f32(load<uint16_t>(data(), index));
    case DType::U64:
      return static_cast<double>(load<uint64_t>(data(), index));
    default:
      return static_cast<double>(i64_at(index));
  }
}

int64_t Array::i64_at(int64_t index) const {
  CAPRA_CHECK(index >= 0 && index < elements_);
  switch (dtype_) {
    case DType::I64:
    case DType::U64:
      return load<int64_t>(data(), index);
    case DType::I32:
      return load<int32_t>(data(), index);
    case DType::I16:
      return load<int16_t>(data(), index);
    case DType::I8:
      return load<int8_t>(data(), index);
    case DType::U32:
      return load<uint32_t>(data(), index);
    case DType::U16:
      return load<uint16_t>(data(), index);
    case DType::U8:
      return load<uint8_t>(data(), index);
    case DType::Bool:
      return load<uint8_t>(data(), index) != 0 ? 1 : 0;
    case DType::F64:
    case DType::F32:
    case DType::F16:
    case DType::BF16:
      return saturate<int64_t>(f64_at(index));
  }
  return 0;
}

void Array::set(int64_t index, double value) {
  CAPRA_CHECK(index >= 0 && index < elements_);
  std::byte* to = mutable_data();
  switch (dtype_) {
    case DType::F64:
      return store(to, index, value);
    case DType::F32:
      return store(to, index, static_cast<float>(value));
    case DType::F16:
      return store(to, index, f64_to_f16(value));
    case DType::BF16:
      return store(to, index, f64_to_bf16(value));
    case DType::I64:
      return store(to, index, saturate<int64_t>(value));
    case DType::I32:
      return store(to, index, saturate<int32_t>(value));
    case DType::I16:
      return store(to, index, saturate<int16_t>(value));
    case DType::I8:
      return store(to, index, saturate<int8_t>(value));
    case DType::U64:
      return store(to, index, saturate<uint64_t>(value));
    case DType::U32:
      return store(to, index, saturate<uint32_t>(value));
    case DType::U16:
      return store(to, index, saturate<uint16_t>(value));
    case DType::U8:
      return store(to, index, saturate<uint8_t>(value));
    case DType::Bool:
      return store<uint8_t>(to, index, value != 0 ? 1 : 0);
  }
}

void Array::set_i64(int64_t index, int64_t value) {
  CAPRA_CHECK(index >= 0 && index < elements_);
  std::byte* to = mutable_data();
  switch (dtype_) {
    case DType::I64:
    case DType::U64:
      return store(to, index, value);
    case DType::I32:
    case DType::U32:
      return store_wrapped<uint32_t>(to, index, value);
    case DType::I16:
    case DType::U16:
      return store_wrapped<uint16_t>(to, index, value);
    case DType::I8:
    case DType::U8:
      return store_wrapped<uint8_t>(to, index, value);
    case DType::Bool:
      return store<uint8_t>(to, index, value != 0 ? 1 : 0);
    case DType::F32:  // straight from the integer: through a double it would be rounded twice
      return store(to, index, static_cast<float>(value));
    case DType::F64:
      return store(to, index, static_cast<double>(value));
    case DType::F16:
    case DType::BF16:
      return set(index, odd_f64(value));
  }
}

Array Array::reshaped(std::vector<int64_t> sizes) const {
  CAPRA_CHECK(element_count(dtype_, sizes) == elements_);
  Array array = *this;
  array.sizes_ = std::move(sizes);
  return array;
}

bool operator==(const Array& a, const Array& b) {
  if (a.dtype_ != b.dtype_ || a.sizes_ != b.sizes_) return false;
  if (!a || !b) return !a && !b;
  return std::memcmp(a.data(), b.data(), a.byte_size()) == 0;
}

}  // namespace capra
