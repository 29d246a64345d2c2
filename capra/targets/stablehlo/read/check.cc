// The rules by name. A dynamic dim equals a dynamic dim: the text does not say more.
#include "capra/targets/stablehlo/read/check.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "capra/base/nearest_name.h"
#include "capra/base/number_text.h"

namespace capra::stablehlo {
namespace {

using Ints = std::vector<int64_t>;

Failure mismatch(std::string message) { return fail("type-mismatch", std::move(message)); }
Failure invalid(std::string message) { return fail("attribute-invalid", std::move(message)); }

Status gives(const Operation& operation, const TensorType& needed) {
  if (operation.type == needed) return {};
  return mismatch("found the result " + type_text(operation.type) + ", needed " +
                  type_text(needed));
}

Status has_type(const TensorType& operand, const TensorType& needed, std::string_view which) {
  if (operand == needed) return {};
  return mismatch(std::string(which) + " is " + type_text(operand) + ", needed " +
                  type_text(needed));
}

// A shape as a value: one extent an axis.
Status is_extents(const TensorType& operand, int64_t rank, std::string_view which) {
  return has_type(operand, {DType::I32, {rank}}, which);
}

Status within(int64_t axis, int64_t rank, std::string_view which) {
  if (axis >= 0 && axis < rank) return {};
  return invalid(std::string(which) + " " + number_text(axis) + " is outside a tensor of rank " +
                 number_text(rank));
}

// Axes of a tensor, each once.
Status are_axes(const Ints& axes, int64_t rank, std::string_view which) {
  for (const int64_t axis : axes) CAPRA_TRY(within(axis, rank, which));
  if (std::set(axes.begin(), axes.end()).size() == axes.size()) return {};
  return invalid(std::string(which) + " names an axis twice");
}

Status counts(const Ints& values, int64_t needed, std::string_view which) {
  if (static_cast<int64_t>(values.size()) == needed) return {};
  return invalid(std::string(which) + " has " + number_text(values.size()) + " numbers, needed " +
                 number_text(needed));
}

bool is_whole(DType dtype) { return is_integer(dtype) || dtype == DType::Bool; }
bool is_number(DType dtype) { return dtype != DType::Bool; }
bool is_signed(DType dtype) { return is_float(dtype) || is_signed_integer(dtype); }

template <bool (*kTakes)(DType)>
Status check_dtype(const Operation& operation, TypeRefs) {
  if (kTakes(operation.type.dtype)) return {};
  return mismatch("there is no " + std::string(operation.name) + " of " +
                  type_text(operation.type));
}

Status check_chlo(const Operation& operation, TypeRefs operands) {
  CAPRA_TRY(gives(operation, *operands[0]));
  return check_dtype<is_float>(operation, operands);
}

Status check_convert(const Operation& operation, TypeRefs operands) {
  return gives(operation, {operation.type.dtype, operands[0]->shape});
}

Status check_bitcast(const Operation& operation, TypeRefs operands) {
  CAPRA_TRY(check_convert(operation, operands));
  const DType from = operands[0]->dtype;
  const DType to = operation.type.dtype;
  const bool bools = (from == DType::Bool) != (to == DType::Bool);
  if (dtype_bytes(from) == dtype_bytes(to) && !bools) return {};
  return mismatch("the bits of " + type_text(*operands[0]) + " are not as many as those of " +
                  type_text(operation.type));
}

Status check_reshape(const Operation& operation, TypeRefs operands) {
  const std::optional<int64_t> from = operands[0]->shape.elements();
  const bool fits = from && from == operation.type.shape.elements();
  if (fits && operands[0]->dtype == operation.type.dtype) return {};
  return mismatch(type_text(*operands[0]) + " cannot become " + type_text(operation.type));
}

Status check_compare(const Operation& operation, TypeRefs operands) {
  CAPRA_TRY(has_type(*operands[1], *operands[0], "the second operand"));
  const std::string needed(comparison_type(operands[0]->dtype));
  if (operation.attribute<std::string>("type") != needed) {
    return invalid("found the comparison " + operation.attribute<std::string>("type") +
                   ", needed " + needed + " for " + type_text(*operands[0]));
  }
  constexpr std::string_view kDirections[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  const std::string& direction = operation.attribute<std::string>("direction");
  if (std::ranges::find(kDirections, direction) == std::end(kDirections)) {
    return invalid("found the direction " + direction + ", needed EQ, NE, LT, LE, GT or GE");
  }
  return gives(operation, {DType::Bool, operands[0]->shape});
}

Status check_select(const Operation& operation, TypeRefs operands) {
  CAPRA_TRY(has_type(*operands[0], {DType::Bool, operation.type.shape}, "the condition"));
  CAPRA_TRY(has_type(*operands[1], operation.type, "the second operand"));
  return has_type(*operands[2], operation.type, "the third operand");
}

Status check_constant(const Operation& operation, TypeRefs) {
  const auto& value = operation.attribute<Array>("value");
  if (!operation.type.shape.is_static()) return mismatch("a constant has dynamic dims");
  const bool is_one = value.elements() == 1;
  const TensorType of_value{value.dtype(), is_one ? operation.type.shape : Shape(value.sizes())};
  return gives(operation, of_value);
}

Status check_iota(const Operation& operation, TypeRefs operands) {
  const Shape& shape = operation.type.shape;
  CAPRA_TRY(check_dtype<is_number>(operation, operands));
  CAPRA_TRY(within(operation.attribute<int64_t>("dim"), shape.rank(), "dim"));
  if (!operands.empty()) return is_extents(*operands[0], shape.rank(), "the shape");
  return shape.is_static() ? Status() : mismatch("iota has dynamic dims and is given no shape");
}

Status check_dimension_size(const Operation& operation, TypeRefs operands) {
  CAPRA_TRY(within(operation.attribute<int64_t>("dim"), operands[0]->shape.rank(), "dim"));
  return gives(operation, {DType::I32, {}});
}

Status check_concatenate(const Operation& operation, TypeRefs operands) {
  TensorType needed = *operands[0];
  const auto axis = operation.attribute<int64_t>("dim");
  CAPRA_TRY(within(axis, needed.shape.rank(), "dim"));
  for (size_t i = 1; i < operands.size(); ++i) {
    TensorType part = *operands[i];
    if (part.shape.rank() == needed.shape.rank()) {
      const Dim own = std::exchange(part.shape[axis], needed.shape[axis]);
      const bool is_static = own.is_static() && needed.shape[axis].is_static();
      int64_t sum = 0;
      if (is_static && __builtin_add_overflow(own.size(), needed.shape[axis].size(), &sum)) {
        return mismatch("the joined axis is too long");
      }
      CAPRA_TRY(has_type(part, needed, "a part"));
      needed.shape[axis] = is_static ? Dim(sum) : (own.is_static() ? needed.shape[axis] : own);
    } else {
      CAPRA_TRY(has_type(part, needed, "a part"));
    }
  }
  return gives(operation, needed);
}

Status check_transpose(const Operation& operation, TypeRefs operands) {
  const Ints& dims = operation.attribute<Ints>("dims");
  CAPRA_TRY(counts(dims, operands[0]->shape.rank(), "dims"));
  CAPRA_TRY(are_axes(dims, operands[0]->shape.rank(), "dims"));
  std::vector<Dim> turned;
  for (const int64_t axis : dims) turned.push_back(operands[0]->shape[axis]);
  return gives(operation, {operands[0]->dtype, Shape(std::move(turned))});
}

Status check_broadcast(const Operation& operation, TypeRefs operands) {
  const Shape& from = operands[0]->shape;
  const Shape& to = operation.type.shape;
  const Ints& dims = operation.attribute<Ints>("dims");
  CAPRA_TRY(counts(dims, from.rank(), "dims"));
  CAPRA_TRY(are_axes(dims, to.rank(), "dims"));
  bool fits = operands[0]->dtype == operation.type.dtype;
  for (int64_t axis = 0; axis < from.rank(); ++axis) {
    const Dim& dim = from[axis];
    fits = fits && (dim == Dim(1) || dim == to[dims[static_cast<size_t>(axis)]]);
  }
  if (fits) return {};
  return mismatch(type_text(*operands[0]) + " does not broadcast to " + type_text(operation.type));
}

Status check_static_broadcast(const Operation& operation, TypeRefs operands) {
  CAPRA_TRY(check_broadcast(operation, operands));
  if (operation.type.shape.is_static()) return {};
  return mismatch("the result has dynamic dims, and no shape is given");
}

Status check_dynamic_broadcast(const Operation& operation, TypeRefs operands) {
  CAPRA_TRY(check_broadcast(operation, operands));
  CAPRA_TRY(is_extents(*operands[1], operation.type.shape.rank(), "the shape"));
  Ints known;
  for (const NamedAttribute& one : operation.attributes) {
    if (!one.name.starts_with("known_")) continue;
    const Ints& axes = std::get<Ints>(one.value);
    known.insert(known.end(), axes.begin(), axes.end());
  }
  return are_axes(known, operands[0]->shape.rank(), "what is known of dims");
}

Status check_slice(const Operation& operation, TypeRefs operands) {
  const Shape& from = operands[0]->shape;
  const Ints& starts = operation.attribute<Ints>("starts");
  const Ints& limits = operation.attribute<Ints>("limits");
  const Ints& strides = operation.attribute<Ints>("strides");
  std::vector<Dim> dims;
  for (size_t i = 0; i < starts.size(); ++i) {
    const Dim& extent = from[static_cast<int64_t>(i)];
    const bool inside = !extent.is_static() || limits[i] <= extent.size();
    if (starts[i] < 0 || limits[i] < starts[i] || strides[i] < 1 || !inside) {
      return invalid("found the box " + number_text(starts[i]) + ":" + number_text(limits[i]) +
                     ":" + number_text(strides[i]) + " in an extent of " + extent.text());
    }
    const int64_t span = limits[i] - starts[i];
    dims.emplace_back(span / strides[i] + (span % strides[i] != 0 ? 1 : 0));
  }
  return gives(operation, {operands[0]->dtype, Shape(std::move(dims))});
}

Status check_dynamic_slice(const Operation& operation, TypeRefs operands) {
  const int64_t rank = operands[0]->shape.rank();
  CAPRA_TRY(is_extents(*operands[1], rank, "the starts"));
  CAPRA_TRY(is_extents(*operands[2], rank, "the limits"));
  CAPRA_TRY(is_extents(*operands[3], rank, "the strides"));
  if (operation.type.dtype == operands[0]->dtype && operation.type.shape.rank() == rank) return {};
  return mismatch("found the result " + type_text(operation.type) + ", needed a box of " +
                  type_text(*operands[0]));
}

Status check_dot(const Operation& operation, TypeRefs operands) {
  const TensorType& a = *operands[0];
  const TensorType& b = *operands[1];
  Ints left = operation.attribute<Ints>("batching");
  Ints right = left;
  left.push_back(operation.attribute<int64_t>("left"));
  right.push_back(operation.attribute<int64_t>("right"));
  CAPRA_TRY(are_axes(left, a.shape.rank(), "the first operand's dims"));
  CAPRA_TRY(are_axes(right, b.shape.rank(), "the second operand's dims"));
  std::vector<Dim> dims;
  for (size_t i = 0; i < left.size(); ++i) {
    const Dim& of_a = a.shape[left[i]];
    if (of_a != b.shape[right[i]]) {
      return mismatch("the extents " + of_a.text() + " and " + b.shape[right[i]].text() +
                      " of the operands meet");
    }
    if (i + 1 < left.size()) dims.push_back(of_a);
  }
  for (int64_t axis = 0; axis < a.shape.rank(); ++axis) {
    if (std::ranges::find(left, axis) == left.end()) dims.push_back(a.shape[axis]);
  }
  for (int64_t axis = 0; axis < b.shape.rank(); ++axis) {
    if (std::ranges::find(right, axis) == right.end()) dims.push_back(b.shape[axis]);
  }
  if (a.dtype != b.dtype || a.dtype == DType::Bool) {
    return mismatch("there is no product of " + type_text(a) + " and " + type_text(b));
  }
  const bool widens = is_half(a.dtype) && operation.type.dtype == DType::F32;
  return gives(operation, {widens ? DType::F32 : a.dtype, Shape(std::move(dims))});
}

Status check_reduce(const Operation& operation, TypeRefs operands) {
  const TensorType& x = *operands[0];
  CAPRA_TRY(has_type(*operands[1], {x.dtype, {}}, "the initial value"));
  const std::string& applies = operation.attribute<std::string>("applies");
  constexpr std::string_view kReductions[] = {"stablehlo.add", "stablehlo.maximum",
                                              "stablehlo.minimum"};
  if (std::ranges::find(kReductions, applies) == std::end(kReductions)) {
    return fail("op-unknown", "found a reduction that applies " + applies +
                                  ", needed stablehlo.add, stablehlo.maximum or stablehlo.minimum");
  }
  const Ints& axes = operation.attribute<Ints>("dimensions");
  CAPRA_TRY(are_axes(axes, x.shape.rank(), "dimensions"));
  if (!std::ranges::is_sorted(axes)) return invalid("dimensions do not ascend");
  CAPRA_TRY(check_dtype<is_number>(operation, operands));
  std::vector<Dim> dims;
  for (int64_t axis = 0; axis < x.shape.rank(); ++axis) {
    if (std::ranges::find(axes, axis) == axes.end()) dims.push_back(x.shape[axis]);
  }
  return gives(operation, {x.dtype, Shape(std::move(dims))});
}

// Slices along one axis in the place of the axis, as whole rows.
Status check_gather(const Operation& operation, TypeRefs operands) {
  const Shape& table = operands[0]->shape;
  const Shape& indices = operands[1]->shape;
  const auto axis = operation.attribute<int64_t>("axis");
  CAPRA_TRY(within(axis, table.rank(), "the collapsed dim"));
  if (!is_integer(operands[1]->dtype)) {
    return mismatch("the indices are " + type_text(*operands[1]) + ", needed integers");
  }
  Ints offsets;
  Ints sizes;
  std::vector<Dim> dims = indices.dims();
  dims.insert(dims.begin(), table.dims().begin(), table.dims().begin() + axis);
  dims.insert(dims.end(), table.dims().begin() + axis + 1, table.dims().end());
  for (int64_t i = 0; i < table.rank(); ++i) {
    if (i != axis && !table[i].is_static()) return mismatch("a slice has a dynamic extent");
    sizes.push_back(i == axis ? 1 : table[i].size());
    if (i != axis) offsets.push_back(i < axis ? i : i + indices.rank() - 1);
  }
  if (operation.attribute<Ints>("offset_dims") != offsets ||
      operation.attribute<Ints>("slice_sizes") != sizes ||
      operation.attribute<int64_t>("index_vector_dim") != indices.rank()) {
    return invalid("found another gather than whole slices along one axis");
  }
  if (table[axis] == Dim(0)) return mismatch("no index fits an empty axis");
  return gives(operation, {operands[0]->dtype, Shape(std::move(dims))});
}

// Which dims of `many` make each dim of `few`.
Status check_groups(const Operation& operation, const TensorType& many, const TensorType& few) {
  int64_t axis = 0;
  auto first = many.shape.dims().begin();
  bool fits = many.dtype == few.dtype;
  for (const int64_t size : operation.attribute<Ints>("counts")) {
    const Shape group(std::vector<Dim>(first, first + size));
    const Dim& one = few.shape[axis++];
    fits = fits && group.is_static() == one.is_static() &&
           (!one.is_static() || group.elements() == one.size());
    first += size;
  }
  if (fits) return {};
  return mismatch(type_text(many) + " and " + type_text(few) + " do not hold the same groups");
}

Status check_collapse(const Operation& operation, TypeRefs operands) {
  return check_groups(operation, *operands[0], operation.type);
}

Status check_expand(const Operation& operation, TypeRefs operands) {
  return check_groups(operation, operation.type, *operands[0]);
}

Status check_tensor_dim(const Operation& operation, TypeRefs) {
  return gives(operation, kIndexType);
}

Status check_nothing(const Operation&, TypeRefs) { return {}; }

constexpr auto kNumbers = check_dtype<is_number>;
constexpr auto kFloats = check_dtype<is_float>;
constexpr auto kWhole = check_dtype<is_whole>;

template <class T>
bool is(const Attribute& value) {
  return std::holds_alternative<T>(value);
}
bool is_data(const Attribute& value) {
  const auto* array = std::get_if<Array>(&value);
  return array != nullptr && static_cast<bool>(*array);
}
bool is_of_32_bits(const Attribute& value) {
  const auto* number = std::get_if<int64_t>(&value);
  return number != nullptr && *number == static_cast<int32_t>(*number);
}
constexpr AttributeRule an_integer(std::string_view name) {
  return {name, is<int64_t>, "an integer"};
}
constexpr AttributeRule a_list(std::string_view name, bool required = true) {
  return {name, is<Ints>, "a list of integers", required};
}
constexpr AttributeRule a_text(std::string_view name) { return {name, is<std::string>, "a text"}; }
constexpr AttributeRule a_symbol(std::string_view name) {
  return {name, is<Symbol>, "the name of a function or global"};
}

constexpr AttributeRule kCompare[] = {a_text("direction"), a_text("type")};
constexpr AttributeRule kComposite[] = {
    a_text("name"),
    {"composite_attributes", is<Dictionary>, "a dictionary"},
    a_symbol("decomposition"),
    {"version", is_of_32_bits, "an integer of 32 bits"},
};
constexpr AttributeRule kCounts[] = {a_list("counts")};
constexpr AttributeRule kData[] = {{"value", is_data, "data"}};
constexpr AttributeRule kDim[] = {an_integer("dim")};
constexpr AttributeRule kDims[] = {a_list("dims")};
constexpr AttributeRule kDot[] = {a_list("batching"), an_integer("left"), an_integer("right")};
constexpr AttributeRule kDynamicBroadcast[] = {a_list("dims"),
                                               a_list("known_expanding_dimensions", false),
                                               a_list("known_nonexpanding_dimensions", false)};
constexpr AttributeRule kGather[] = {a_list("offset_dims"), an_integer("axis"),
                                     an_integer("index_vector_dim"), a_list("slice_sizes")};
constexpr AttributeRule kIntValue[] = {an_integer("value")};
constexpr AttributeRule kLoad[] = {a_symbol("global")};
constexpr AttributeRule kReduce[] = {a_text("applies"), a_list("dimensions")};
constexpr AttributeRule kSlice[] = {a_list("starts"), a_list("limits"), a_list("strides")};

constexpr OperationRule kRules[] = {
    {"arith.constant", Form::Own, 0, check_tensor_dim, kIntValue},
    {"chlo.erf", Form::Chlo, 1, check_chlo},
    {"chlo.erfc", Form::Chlo, 1, check_chlo},
    {"stablehlo.abs", Form::OneType, 1, check_dtype<is_signed>},
    {"stablehlo.add", Form::OneType, 2, kNumbers},
    {"stablehlo.and", Form::OneType, 2, kWhole},
    {"stablehlo.bitcast_convert", Form::Plain, 1, check_bitcast},
    {"stablehlo.broadcast_in_dim", Form::Dims, 1, check_static_broadcast, kDims},
    {"stablehlo.compare", Form::Own, 2, check_compare, kCompare},
    {"stablehlo.composite", Form::Own, -1, check_nothing, kComposite},
    {"stablehlo.concatenate", Form::Dim, -1, check_concatenate, kDim},
    {"stablehlo.constant", Form::Own, 0, check_constant, kData},
    {"stablehlo.convert", Form::Plain, 1, check_convert},
    {"stablehlo.divide", Form::OneType, 2, kNumbers},
    {"stablehlo.dot_general", Form::Own, 2, check_dot, kDot},
    {"stablehlo.dynamic_broadcast_in_dim", Form::Own, 2, check_dynamic_broadcast,
     kDynamicBroadcast},
    {"stablehlo.dynamic_iota", Form::Dim, 1, check_iota, kDim},
    {"stablehlo.exponential", Form::OneType, 1, kFloats},
    {"stablehlo.gather", Form::Own, 2, check_gather, kGather},
    {"stablehlo.get_dimension_size", Form::Dim, 1, check_dimension_size, kDim},
    {"stablehlo.iota", Form::Own, 0, check_iota, kDim},
    {"stablehlo.log", Form::OneType, 1, kFloats},
    {"stablehlo.maximum", Form::OneType, 2, kNumbers},
    {"stablehlo.minimum", Form::OneType, 2, kNumbers},
    {"stablehlo.multiply", Form::OneType, 2, kNumbers},
    {"stablehlo.negate", Form::OneType, 1, kNumbers},
    {"stablehlo.not", Form::OneType, 1, kWhole},
    {"stablehlo.or", Form::OneType, 2, kWhole},
    {"stablehlo.real_dynamic_slice", Form::Plain, 4, check_dynamic_slice},
    {"stablehlo.reduce", Form::Own, 2, check_reduce, kReduce},
    {"stablehlo.reshape", Form::Plain, 1, check_reshape},
    {"stablehlo.select", Form::Own, 3, check_select},
    {"stablehlo.shift_left", Form::OneType, 2, check_dtype<is_integer>},
    {"stablehlo.slice", Form::Own, 1, check_slice, kSlice},
    {"stablehlo.sqrt", Form::OneType, 1, kFloats},
    {"stablehlo.subtract", Form::OneType, 2, kNumbers},
    {"stablehlo.tanh", Form::OneType, 1, kFloats},
    {"stablehlo.transpose", Form::Dims, 1, check_transpose, kDims},
    {"tensor.collapse_shape", Form::Own, 1, check_collapse, kCounts},
    {"tensor.dim", Form::Own, 2, check_tensor_dim},
    {"tensor.expand_shape", Form::Own, -1, check_expand, kCounts},
    {"util.global.load", Form::Own, 0, check_nothing, kLoad},
};

}  // namespace

std::span<const OperationRule> operation_rules() { return kRules; }

const OperationRule* find_rule(std::string_view name) {
  const auto* found = std::ranges::lower_bound(kRules, name, {}, &OperationRule::name);
  return found != std::end(kRules) && found->name == name ? found : nullptr;
}

bool is_index(const Function& function, ValueId value) {
  const auto position = static_cast<size_t>(value);
  if (position < function.arguments.size()) return false;
  const std::string_view name = function.operations[position - function.arguments.size()].name;
  return name == "arith.constant" || name == "tensor.dim";
}

Status check_operation(const Function& function, const Operation& operation) {
  const OperationRule* rule = find_rule(operation.name);
  if (rule == nullptr) {
    std::vector<std::string_view> known;
    for (const OperationRule& one : kRules) known.push_back(one.name);
    const std::string_view nearest = nearest_name(operation.name, known);
    return fail("op-unknown",
                "'" + std::string(operation.name.substr(0, 80)) +
                    "' is no operation of the programs that are written here",
                {}, nearest.empty() ? "" : "did you mean '" + std::string(nearest) + "'?");
  }
  CAPRA_TRY(check_form(*rule, function, operation));
  std::vector<const TensorType*> types;
  types.reserve(operation.operands.size());
  for (const ValueId operand : operation.operands) types.push_back(&function.type(operand));
  if (rule->form == Form::OneType) {
    for (const TensorType* type : types) CAPRA_TRY(has_type(*type, operation.type, "an operand"));
  }
  return rule->check(operation, types);
}

}  // namespace capra::stablehlo
