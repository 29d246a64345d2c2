// Text, binding and broadcasting of shapes.
#include "capra/ir/shape.h"

#include <algorithm>

#include "capra/base/number_text.h"

namespace capra {

std::string Dim::text() const { return is_static() ? number_text(size_) : symbol_; }

bool Shape::is_static() const {
  return std::ranges::all_of(dims_, [](const Dim& dim) { return dim.is_static(); });
}

std::optional<int64_t> Shape::elements() const {
  int64_t product = 1;
  bool overflow = false;
  for (const Dim& dim : dims_) {
    if (!dim.is_static()) return std::nullopt;
    if (dim.size() == 0) return 0;
    overflow |= __builtin_mul_overflow(product, dim.size(), &product);
  }
  if (overflow) return std::nullopt;
  return product;
}

std::vector<int64_t> Shape::sizes() const {
  CAPRA_CHECK(is_static());
  std::vector<int64_t> sizes;
  sizes.reserve(dims_.size());
  for (const Dim& dim : dims_) sizes.push_back(dim.size());
  return sizes;
}

Result<Shape> Shape::bind(const DimBindings& bindings) const {
  std::vector<Dim> bound;
  bound.reserve(dims_.size());
  for (const Dim& dim : dims_) {
    if (dim.is_static()) {
      bound.push_back(dim);
      continue;
    }
    const auto found = bindings.find(dim.symbol());
    if (found == bindings.end()) {
      return fail("symbol-unbound", "dim '" + dim.symbol() + "' has no value", text(),
                  "give an input whose shape has this dim");
    }
    bound.emplace_back(found->second);
  }
  return Shape(std::move(bound));
}

std::string Shape::text() const {
  std::string text = "[";
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i > 0) text += ", ";
    text += dims_[i].text();
  }
  return text + "]";
}

std::string TensorType::text() const { return std::string(dtype_name(dtype)) + shape.text(); }

bool grow_bytes(int64_t& bytes, int64_t extent) {
  return extent == 0 || !__builtin_mul_overflow(bytes, extent, &bytes);
}

bool fits_memory(const TensorType& type) {
  auto bytes = static_cast<int64_t>(dtype_bytes(type.dtype));
  for (const Dim& dim : type.shape.dims()) {
    if (dim.is_static() && !grow_bytes(bytes, dim.size())) return false;
  }
  return true;
}

uint64_t byte_size(const TensorType& type) {
  return static_cast<uint64_t>(*type.shape.elements()) * dtype_bytes(type.dtype);
}

Result<Shape> broadcast_shapes(const Shape& a, const Shape& b) {
  const int64_t rank = std::max(a.rank(), b.rank());
  std::vector<Dim> dims;
  dims.reserve(static_cast<size_t>(rank));
  const Dim one(1);
  for (int64_t axis = 0; axis < rank; ++axis) {
    const int64_t in_a = axis - (rank - a.rank());
    const int64_t in_b = axis - (rank - b.rank());
    const Dim& da = in_a < 0 ? one : a[in_a];
    const Dim& db = in_b < 0 ? one : b[in_b];
    if (da != db && da != one && db != one) {
      return fail("operand-shape",
                  "shapes " + a.text() + " and " + b.text() + " do not broadcast: " + da.text() +
                      " meets " + db.text(),
                  {}, "aligned to the right, each pair of extents must be equal or contain a 1");
    }
    dims.push_back(da == one ? db : da);
  }
  return Shape(std::move(dims));
}

Result<int64_t> normalize_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    return fail("attribute-invalid",
                "axis " + number_text(axis) + " is outside a tensor of rank " + number_text(rank));
  }
  return axis < 0 ? axis + rank : axis;
}

}  // namespace capra
