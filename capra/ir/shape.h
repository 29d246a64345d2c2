// Shapes with static and symbolic dims, and tensor types.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/result.h"
#include "capra/ir/dtype.h"

namespace capra {

/// One extent: a number >= 0, or a name such as `tokens` whose number is known when the graph runs.
class Dim {
 public:
  Dim(int64_t size) : size_(size) {}                       // NOLINT(google-explicit-constructor)
  Dim(int size) : size_(size) {}                           // NOLINT(google-explicit-constructor)
  Dim(std::string symbol) : symbol_(std::move(symbol)) {}  // NOLINT(google-explicit-constructor)
  Dim(const char* symbol) : symbol_(symbol) {}             // NOLINT(google-explicit-constructor)

  bool is_static() const { return symbol_.empty(); }
  int64_t size() const { return size_; }                 ///< only when static
  const std::string& symbol() const { return symbol_; }  ///< empty when static
  std::string text() const;

  friend bool operator==(const Dim&, const Dim&) = default;

 private:
  int64_t size_ = -1;
  std::string symbol_;
};

/// What the symbols of a graph stand for in one run.
using DimBindings = std::map<std::string, int64_t, std::less<>>;

/// The extents of a tensor, outermost first. Rank 0 is a scalar.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<Dim> dims) : dims_(dims) {}
  explicit Shape(std::vector<Dim> dims) : dims_(std::move(dims)) {}
  explicit Shape(const std::vector<int64_t>& sizes) : dims_(sizes.begin(), sizes.end()) {}

  int64_t rank() const { return static_cast<int64_t>(dims_.size()); }
  const Dim& operator[](int64_t axis) const { return dims_[static_cast<size_t>(axis)]; }
  Dim& operator[](int64_t axis) { return dims_[static_cast<size_t>(axis)]; }
  const std::vector<Dim>& dims() const { return dims_; }

  bool is_static() const;
  /// Product of the extents, if all are static and it fits; 1 for a scalar.
  std::optional<int64_t> elements() const;
  /// The extents as numbers; only when static.
  std::vector<int64_t> sizes() const;
  /// The shape with symbols replaced; fails with `symbol-unbound`.
  Result<Shape> bind(const DimBindings& bindings) const;
  /// `[tokens, 384]`; `[]` for a scalar.
  std::string text() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<Dim> dims_;
};

/// dtype and shape: `f32[tokens, 384]`.
struct TensorType {
  DType dtype = DType::F32;
  Shape shape;

  std::string text() const;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// Multiplies `bytes` by an extent, a 0 counting as 1; false where 63 bits cannot count the
/// product.
bool grow_bytes(int64_t& bytes, int64_t extent);

/// Whether the bytes of the static extents (a 0 counting as 1) can be counted in 63 bits.
bool fits_memory(const TensorType& type);

/// The bytes of a tensor whose extents are static and fit the memory.
uint64_t byte_size(const TensorType& type);

/// NumPy broadcasting of two shapes: aligned to the right, extents equal or 1. A symbol meets
/// itself or 1. Fails with `operand-shape`.
Result<Shape> broadcast_shapes(const Shape& a, const Shape& b);

/// Turns a negative axis into a position; fails with `attribute-invalid` outside [-rank, rank).
Result<int64_t> normalize_axis(int64_t axis, int64_t rank);

}  // namespace capra
