// Operations with dynamic dims take a shape as an operand; all others do not.
#include "capra/targets/stablehlo/builder.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <limits>
#include <numeric>

#include "capra/base/number_text.h"

namespace capra::stablehlo {
namespace {

// Letters, digits and underscores, not starting with a digit.
std::string identifier(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const bool plain = c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
    result += plain ? c : '_';
  }
  const bool numeric = result.empty() || std::isdigit(static_cast<unsigned char>(result[0])) != 0;
  return numeric ? "_" + result : result;
}

// One element of a constant whose elements all are equal, as its key among constants.
std::string bytes_key(const Array& value) {
  return value.type().text() +
         std::string(reinterpret_cast<const char*>(value.data()), value.byte_size());
}

bool is_splat(const Array& value) { return value.elements() == 1; }

// The product of `count` extents from `first` on: a number, or a dim that prints as dynamic.
Dim product(const Shape& shape, int64_t first, int64_t count) {
  if (count == 1) return shape[first];
  int64_t size = 1;
  std::string symbols;
  for (int64_t axis = first; axis < first + count; ++axis) {
    if (shape[axis].is_static()) {
      size *= shape[axis].size();
    } else {
      symbols += shape[axis].symbol() + "*";
    }
  }
  return symbols.empty() ? Dim(size) : Dim(symbols + number_text(size));
}

// So many dims of one shape have the elements of so many dims of another.
struct ReshapeGroup {
  int64_t from = 0;
  int64_t to = 0;
};

// Some dims of one side of a group.
struct Run {
  std::vector<std::string> symbols;  // sorted
  int64_t size = 1;

  void add(const Dim& dim) {
    if (dim.is_static()) {
      size *= dim.size();
    } else {
      symbols.insert(std::ranges::upper_bound(symbols, dim.symbol()), dim.symbol());
    }
  }
  friend bool operator==(const Run&, const Run&) = default;
};

// The shortest groups, in order. The shapes have equal symbols and numbers of elements.
std::vector<ReshapeGroup> reshape_groups(const Shape& from, const Shape& to) {
  // Of no elements nothing says which dims belong together.
  if (has_zero(from)) return {{from.rank(), to.rank()}};
  std::vector<ReshapeGroup> groups;
  int64_t i = 0;
  int64_t j = 0;
  while (i < from.rank() && j < to.rank()) {
    const int64_t first_i = i;
    const int64_t first_j = j;
    Run left;
    Run right;
    left.add(from[i++]);
    right.add(to[j++]);
    while (left != right) {
      // The side that lacks something grows, if it can.
      const bool lacks = left.symbols.size() != right.symbols.size()
                             ? left.symbols.size() < right.symbols.size()
                             : left.size < right.size;
      if ((lacks && i < from.rank()) || j == to.rank()) {
        left.add(from[i++]);
      } else {
        right.add(to[j++]);
      }
    }
    groups.push_back({i - first_i, j - first_j});
  }
  // Extents of 1 are left.
  groups.back().from += from.rank() - i;
  groups.back().to += to.rank() - j;
  return groups;
}

}  // namespace

bool has_zero(const Shape& shape) {
  return std::ranges::find(shape.dims(), Dim(0)) != shape.dims().end();
}

FunctionBuilder::FunctionBuilder(std::string name, bool is_private) {
  function_.name = std::move(name);
  function_.is_private = is_private;
}

ValueId FunctionBuilder::argument(std::string_view name, TensorType type) {
  CAPRA_CHECK(function_.operations.empty());
  const std::string base = identifier(name);
  std::string unique = base;
  const auto taken = [&] {
    return std::ranges::any_of(function_.arguments,
                               [&](const Argument& other) { return other.name == unique; });
  };
  for (int64_t count = 2; taken(); ++count) unique = base + "_" + number_text(count);
  const auto id = static_cast<ValueId>(function_.arguments.size());
  for (int64_t axis = 0; axis < type.shape.rank(); ++axis) {
    const Dim& dim = type.shape[axis];
    if (!dim.is_static()) sources_.try_emplace(dim.symbol(), id, axis);
  }
  function_.arguments.push_back({std::move(unique), std::move(type)});
  return id;
}

Function FunctionBuilder::finish(const std::vector<ValueId>& results) && {
  const size_t arguments = function_.arguments.size();
  std::vector<bool> used(arguments + function_.operations.size(), false);
  for (const ValueId result : results) used[static_cast<size_t>(result)] = true;
  const auto is_left_out = [&](size_t index) { return !used[arguments + index]; };
  for (size_t i = function_.operations.size(); i-- > 0;) {
    if (is_left_out(i)) continue;
    for (const ValueId operand : function_.operations[i].operands) {
      used[static_cast<size_t>(operand)] = true;
    }
  }
  Function kept{function_.name, function_.is_private, std::move(function_.arguments), {}, {}};
  std::vector<ValueId> moved(used.size());
  std::iota(moved.begin(), moved.begin() + static_cast<ptrdiff_t>(arguments), 0);
  for (size_t i = 0; i < function_.operations.size(); ++i) {
    Operation& operation = function_.operations[i];
    if (is_left_out(i)) continue;
    for (ValueId& operand : operation.operands) operand = moved[static_cast<size_t>(operand)];
    moved[arguments + i] = kept.append(std::move(operation));
  }
  for (const ValueId result : results) kept.results.push_back(moved[static_cast<size_t>(result)]);
  return kept;
}

ValueId FunctionBuilder::constant(const Array& value) {
  const auto make = [&] {
    return append({"stablehlo.constant", {}, value.type(), {{"value", value}}});
  };
  // Weights are not worth a copy of their bytes as a key.
  constexpr size_t kLargestKey = 256;
  if (value.byte_size() > kLargestKey) return make();
  const auto [found, added] = constants_.try_emplace(bytes_key(value), -1);
  if (added) found->second = make();
  return found->second;
}

ValueId FunctionBuilder::splat(double value, const TensorType& type) {
  return broadcast(constant(Array::scalar(type.dtype, value)), type.shape);
}

ValueId FunctionBuilder::splat_i64(int64_t value, const TensorType& type) {
  Array scalar = Array::zeros(type.dtype, {});
  scalar.set_i64(0, value);
  return broadcast(constant(scalar), type.shape);
}

ValueId FunctionBuilder::zeros(const TensorType& type) {
  return is_float(type.dtype) ? splat(0.0, type) : splat_i64(0, type);
}

ValueId FunctionBuilder::apply(std::string_view name, std::initializer_list<ValueId> operands) {
  return append({name, operands, type(*operands.begin())});
}

ValueId FunctionBuilder::compare(std::string_view direction, ValueId a, ValueId b) {
  const std::string_view kind = comparison_type(type(a).dtype);
  return append({"stablehlo.compare",
                 {a, b},
                 {DType::Bool, type(a).shape},
                 {{"direction", std::string(direction)}, {"type", std::string(kind)}}});
}

ValueId FunctionBuilder::select(ValueId condition, ValueId a, ValueId b) {
  return append({"stablehlo.select", {condition, a, b}, type(a)});
}

ValueId FunctionBuilder::convert(ValueId x, DType dtype) {
  if (type(x).dtype == dtype) return x;
  return append({"stablehlo.convert", {x}, {dtype, type(x).shape}});
}

ValueId FunctionBuilder::broadcast(ValueId x, const Shape& shape) {
  const int64_t rank = type(x).shape.rank();
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), shape.rank() - rank);
  return broadcast(x, shape, std::move(dims));
}

ValueId FunctionBuilder::broadcast(ValueId x, const Shape& shape, std::vector<int64_t> dims) {
  // A compiler loses another order where no dim is repeated.
  CAPRA_CHECK(std::ranges::adjacent_find(dims, std::ranges::greater_equal()) == dims.end());
  const TensorType from = type(x);
  if (from.shape == shape) return x;
  const TensorType to{from.dtype, shape};
  if (shape.is_static()) {
    // A number is written in its full shape.
    const Operation* source = definition(x);
    if (source != nullptr && source->name == "stablehlo.constant") {
      const Array value = source->attribute<Array>("value");
      if (is_splat(value)) {
        // No type starts like this, so that no other constant has the key.
        const std::string key = "=" + to.text() + bytes_key(value);
        const auto [found, added] = constants_.try_emplace(key, -1);
        if (added) {
          found->second = append({"stablehlo.constant", {}, to, {{"value", value}}});
        }
        return found->second;
      }
    }
    return append({"stablehlo.broadcast_in_dim", {x}, to, {{"dims", std::move(dims)}}});
  }
  // What was repeated before is repeated once: compilers join the two and lose what they are told.
  const Operation* source = definition(x);
  if (source != nullptr && source->name == "stablehlo.dynamic_broadcast_in_dim") {
    auto source_dims = source->attribute<std::vector<int64_t>>("dims");
    for (int64_t& dim : source_dims) dim = dims[static_cast<size_t>(dim)];
    return broadcast(source->operands[0], shape, std::move(source_dims));
  }
  // The compiler is told of each dim of the operand whether it is repeated: it cannot know it of a
  // dynamic one.
  std::vector<int64_t> expanding;
  std::vector<int64_t> nonexpanding;
  for (int64_t axis = 0; axis < from.shape.rank(); ++axis) {
    const bool same = from.shape[axis] == shape[dims[static_cast<size_t>(axis)]];
    (same ? nonexpanding : expanding).push_back(axis);
  }
  Dictionary attributes{{"dims", std::move(dims)}};
  if (!expanding.empty()) attributes.push_back({"known_expanding_dimensions", expanding});
  if (!nonexpanding.empty()) attributes.push_back({"known_nonexpanding_dimensions", nonexpanding});
  const ValueId sizes = extents(shape);
  return append({"stablehlo.dynamic_broadcast_in_dim", {x, sizes}, to, std::move(attributes)});
}

ValueId FunctionBuilder::reshape(ValueId x, const Shape& shape) {
  const TensorType to{type(x).dtype, shape};
  if (type(x) == to) return x;
  if (shape.is_static()) return append({"stablehlo.reshape", {x}, to});
  const ValueId reshaped = dynamic_reshape(without_unsigned(x), shape);
  if (type(reshaped).dtype == to.dtype) return reshaped;
  return append({"stablehlo.bitcast_convert", {reshaped}, to});
}

// Compilers do not take the dialect's own dynamic reshape, but that of the tensor dialect, which
// says which dims become which: each group is folded to one dim and unfolded to the new ones.
ValueId FunctionBuilder::dynamic_reshape(ValueId x, const Shape& shape) {
  std::vector<int64_t> from_counts;
  std::vector<int64_t> to_counts;
  for (const ReshapeGroup& group : reshape_groups(type(x).shape, shape)) {
    from_counts.push_back(group.from);
    to_counts.push_back(group.to);
  }
  return unfold(fold(x, std::move(from_counts)), shape, std::move(to_counts));
}

ValueId FunctionBuilder::fold(ValueId x, std::vector<int64_t> counts) {
  const TensorType from = type(x);
  if (static_cast<int64_t>(counts.size()) == from.shape.rank()) return x;
  std::vector<Dim> dims;
  int64_t next = 0;
  for (const int64_t count : counts) {
    dims.push_back(product(from.shape, next, count));
    next += count;
  }
  const TensorType to{from.dtype, Shape(std::move(dims))};
  return append({"tensor.collapse_shape", {x}, to, {{"counts", std::move(counts)}}});
}

ValueId FunctionBuilder::unfold(ValueId x, const Shape& shape, std::vector<int64_t> counts) {
  const TensorType from = type(x);
  if (static_cast<int64_t>(counts.size()) == shape.rank()) {
    // Nothing to unfold; dims have the names that the caller gives them.
    if (from.shape != shape) function_.operations.back().type.shape = shape;
    return x;
  }
  std::vector<ValueId> operands{x};
  for (const Dim& dim : shape.dims()) {
    if (!dim.is_static()) operands.push_back(index_extent(dim));
  }
  return append({"tensor.expand_shape",
                 std::move(operands),
                 {from.dtype, shape},
                 {{"counts", std::move(counts)}}});
}

ValueId FunctionBuilder::iota(const Shape& shape, int64_t axis) {
  const TensorType type{DType::I64, shape};
  if (shape.is_static()) return append({"stablehlo.iota", {}, type, {{"dim", axis}}});
  const ValueId sizes = extents(shape);
  return append({"stablehlo.dynamic_iota", {sizes}, type, {{"dim", axis}}});
}

ValueId FunctionBuilder::origin(ValueId value) const {
  while (const Operation* made = definition(value)) {
    const std::vector<ValueId>& from = made->operands;
    const bool of_equals = made->name == "stablehlo.maximum" || made->name == "stablehlo.minimum" ||
                           made->name == "stablehlo.and" || made->name == "stablehlo.or";
    if (made->name == "stablehlo.select" && are_same(from[1], from[2])) {
      value = from[1];
    } else if (of_equals && are_same(from[0], from[1])) {
      value = from[0];
    } else if (made->name == "stablehlo.maximum" &&
               signed_of(made->type.dtype) != made->type.dtype && is_repeated(from[1], 0)) {
      value = from[0];
    } else {
      break;
    }
  }
  return value;
}

bool FunctionBuilder::are_same(ValueId a, ValueId b) const {
  a = origin(a);
  b = origin(b);
  if (a == b) return true;
  const Operation* first = definition(a);
  const Operation* second = definition(b);
  return first != nullptr && second != nullptr && *first == *second;
}

const Operation* FunctionBuilder::definition(ValueId value) const {
  const auto position = static_cast<size_t>(value);
  const size_t arguments = function_.arguments.size();
  return position < arguments ? nullptr : &function_.operations[position - arguments];
}

bool FunctionBuilder::is_made_by(std::string_view name, ValueId x) const {
  const Operation* made = definition(x);
  return made != nullptr && made->name == name;
}

bool FunctionBuilder::is_repeated(ValueId x, double number) const {
  const Operation* repeated = definition(x);
  if (repeated == nullptr || repeated->name != "stablehlo.dynamic_broadcast_in_dim") return false;
  const Operation* source = definition(repeated->operands[0]);
  if (source == nullptr || source->name != "stablehlo.constant") return false;
  const auto& value = source->attribute<Array>("value");
  return value.elements() == 1 && value.f64_at(0) == number;
}

ValueId FunctionBuilder::reduce(std::string_view applies, ValueId x, ValueId initial,
                                const std::vector<int64_t>& axes) {
  std::vector<Dim> dims;
  const Shape shape = type(x).shape;
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (std::ranges::find(axes, axis) == axes.end()) dims.push_back(shape[axis]);
  }
  return append({"stablehlo.reduce",
                 {x, initial},
                 {type(x).dtype, Shape(std::move(dims))},
                 {{"applies", std::string(applies)}, {"dimensions", axes}}});
}

// A value of type index, for the tensor dialect.
ValueId FunctionBuilder::index_extent(const Dim& dim) {
  const auto [found, added] = index_extents_.try_emplace(dim.symbol(), -1);
  if (!added) return found->second;
  const auto [argument, axis] = source_of(dim);
  const ValueId position = append({"arith.constant", {}, kIndexType, {{"value", axis}}});
  found->second = append({"tensor.dim", {argument, position}, kIndexType});
  return found->second;
}

std::pair<ValueId, int64_t> FunctionBuilder::source_of(const Dim& dim) {
  const auto source = sources_.find(dim.symbol());
  if (source == sources_.end()) {
    throw Error({"symbol-unbound",
                 "no argument of @" + function_.name + " has the dim " + dim.symbol(),
                 {},
                 "give the graph an input whose shape names the dim, or make it a number"});
  }
  source->second.first = without_unsigned(source->second.first);
  return source->second;
}

// IREE asks no dynamic tensor of an unsigned dtype for its dims.
ValueId FunctionBuilder::without_unsigned(ValueId x) {
  const TensorType from = type(x);
  const DType same_bits = signed_of(from.dtype);
  if (same_bits == from.dtype) return x;
  return append({"stablehlo.bitcast_convert", {x}, {same_bits, from.shape}});
}

Array index_array(const std::vector<int64_t>& values) {
  Array list = Array::zeros(DType::I32, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] > std::numeric_limits<int32_t>::max()) {
      throw Error({"shape-too-large",
                   "an extent or index is " + number_text(values[i]) +
                       ", the dialect's are of 32 bits where dims are dynamic",
                   {},
                   "give the graph static shapes"});
    }
    list.set_i64(static_cast<int64_t>(i), values[i]);
  }
  return list;
}

ValueId FunctionBuilder::extent(const Dim& dim) {
  if (dim.is_static()) return constant(index_array({dim.size()}));
  const auto [found, added] = extents_.try_emplace(dim.symbol(), -1);
  if (!added) return found->second;
  const auto [argument, axis] = source_of(dim);
  const ValueId size =
      append({"stablehlo.get_dimension_size", {argument}, {DType::I32, {}}, {{"dim", axis}}});
  found->second = append({"stablehlo.reshape", {size}, {DType::I32, {1}}});
  return found->second;
}

ValueId FunctionBuilder::extents(const Shape& shape) {
  CAPRA_CHECK(shape.rank() > 0);
  if (shape.rank() == 1) return extent(shape[0]);
  const std::string key = shape.text();  // no symbol has brackets
  const auto found = extents_.find(key);
  if (found != extents_.end()) return found->second;
  std::vector<ValueId> parts;
  for (const Dim& dim : shape.dims()) parts.push_back(extent(dim));
  const ValueId joined = append({"stablehlo.concatenate",
                                 std::move(parts),
                                 {DType::I32, {shape.rank()}},
                                 {{"dim", int64_t{0}}}});
  extents_.emplace(key, joined);
  return joined;
}

}  // namespace capra::stablehlo
