// Builds one function: operations with their result types, and the shapes of dynamic dims as
// values.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capra/targets/stablehlo/module.h"

namespace capra::stablehlo {

/// Whether an extent is 0.
bool has_zero(const Shape& shape);

/// Appends operations to a function. Equal constants, extents and shapes are made once. A symbolic
/// dim takes its extent from the first argument that has it; a symbol that no argument has throws
/// `Error` (`symbol-unbound`).
class FunctionBuilder {
 public:
  FunctionBuilder(std::string name, bool is_private);

  /// Before any operation. The name is made an identifier that no other argument has.
  ValueId argument(std::string_view name, TensorType type);
  ValueId append(Operation operation) { return function_.append(std::move(operation)); }
  TensorType type(ValueId value) const { return function_.type(value); }
  /// The finished function, without what nothing uses.
  Function finish(const std::vector<ValueId>& results) &&;

  ValueId constant(const Array& value);
  /// `value`, rounded once to the dtype, in every element.
  ValueId splat(double value, const TensorType& type);
  /// The same for integers of 64 bits.
  ValueId splat_i64(int64_t value, const TensorType& type);
  /// An operation whose operands have the type of its result.
  ValueId apply(std::string_view name, std::initializer_list<ValueId> operands);
  /// direction: `EQ`, `NE`, `LT`, `LE`, `GT` or `GE`; operands of one type.
  ValueId compare(std::string_view direction, ValueId a, ValueId b);
  /// All of one shape.
  ValueId select(ValueId condition, ValueId a, ValueId b);
  /// To another dtype with the dialect's own meaning; x itself where it has it.
  ValueId convert(ValueId x, DType dtype);
  /// x with its dim i as dim dims[i] of `shape`: equal, or 1 repeated. `dims` ascend.
  ValueId broadcast(ValueId x, const Shape& shape, std::vector<int64_t> dims);
  /// The same with dims aligned to the right.
  ValueId broadcast(ValueId x, const Shape& shape);
  /// The same elements; the symbols of `shape` are those of x.
  ValueId reshape(ValueId x, const Shape& shape);
  /// The first counts[0] dims as one, the next counts[1] as one...; x itself where each count is 1.
  /// The dtype is not unsigned.
  ValueId fold(ValueId x, std::vector<int64_t> counts);
  /// The way back: counts[0] dims of `shape` for the first dim of x, and so on. x is what was made
  /// last where each count is 1.
  ValueId unfold(ValueId x, const Shape& shape, std::vector<int64_t> counts);
  /// Zeros of any type.
  ValueId zeros(const TensorType& type);
  /// Whether they are one value, or equal operations on equal operands. Operations that change
  /// nothing, as compilers know too, are looked through: the greater of a value and itself.
  bool are_same(ValueId a, ValueId b) const;
  /// Whether x is the result of an operation of this name.
  bool is_made_by(std::string_view name, ValueId x) const;
  /// Whether x is `number` repeated along dynamic dims.
  bool is_repeated(ValueId x, double number) const;
  /// The extent as i32[1].
  ValueId extent(const Dim& dim);
  /// x, or its bits as signed integers where it is unsigned.
  ValueId without_unsigned(ValueId x);
  /// The index along the axis, as i64.
  ValueId iota(const Shape& shape, int64_t axis);
  /// x reduced by `applies` from `initial`, a number of its dtype. `axes` ascend.
  ValueId reduce(std::string_view applies, ValueId x, ValueId initial,
                 const std::vector<int64_t>& axes);
  /// The extents as one tensor<rank x i32>, for a shape of rank 1 or more.
  ValueId extents(const Shape& shape);

 private:
  const Operation* definition(ValueId value) const;
  ValueId origin(ValueId value) const;
  std::pair<ValueId, int64_t> source_of(const Dim& dim);
  ValueId index_extent(const Dim& dim);
  ValueId dynamic_reshape(ValueId x, const Shape& shape);

  Function function_;
  std::map<std::string, std::pair<ValueId, int64_t>> sources_;  ///< symbol: argument and axis
  std::map<std::string, ValueId> constants_;
  std::map<std::string, ValueId> extents_;        ///< by symbol or by the shape's text
  std::map<std::string, ValueId> index_extents_;  ///< by symbol
};

/// The numbers as i32[n]; throws `Error` (`shape-too-large`) for one that does not fit.
Array index_array(const std::vector<int64_t>& values);

}  // namespace capra::stablehlo
