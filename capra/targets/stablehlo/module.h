// A StableHLO module in memory: functions of operations in SSA form and globals for parameters; its
// text, the same bytes for the same module.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "capra/base/result.h"
#include "capra/ir/array.h"
#include "capra/ir/graph.h"
#include "capra/ir/shape.h"

namespace capra::stablehlo {

/// A value of a function: its arguments come first, then the results of its operations, in order.
using ValueId = int32_t;

/// The name of a function or global, without the `@`.
struct Symbol {
  std::string name;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

struct NamedAttribute;
using Dictionary = std::vector<NamedAttribute>;
/// A list of integers prints as `[0, 1]` where the operation's form has one, else as an array.
using Attribute = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, Array,
                               Symbol, Dictionary>;
struct NamedAttribute {
  std::string name;
  Attribute value;
  /// Equal kinds and values; NaN equals NaN.
  friend bool operator==(const NamedAttribute& a, const NamedAttribute& b);
};

/// What stands for the type `index` of the dialects beside StableHLO.
inline const TensorType kIndexType{DType::I64, {}};

/// The attribute of a composite that numbers the absent operands of its op before the last one that
/// is there: without it nobody could tell which operand is which.
inline constexpr std::string_view kAbsentOperands = "absent_operands";

/// One operation with one result. Symbolic dims of types print as `?`.
struct Operation {
  std::string_view name;  ///< `stablehlo.add`; of static storage
  std::vector<ValueId> operands;
  TensorType type;
  Dictionary attributes = {};
  friend bool operator==(const Operation&, const Operation&) = default;

  /// The value of an attribute. Throws `program-invalid` where the operation has none of this name
  /// and kind.
  template <class T>
  const T& attribute(std::string_view key) const {
    const auto* value = std::get_if<T>(find_attribute(key));
    if (value == nullptr) throw_without_attribute(key);
    return *value;
  }

 private:
  const Attribute* find_attribute(std::string_view key) const;
  [[noreturn]] void throw_without_attribute(std::string_view key) const;
};

struct Argument {
  std::string name;  ///< an identifier of the dialect
  TensorType type;
  friend bool operator==(const Argument&, const Argument&) = default;
};

struct Function {
  std::string name;
  bool is_private = false;
  std::vector<Argument> arguments;
  std::vector<Operation> operations;
  std::vector<ValueId> results;
  friend bool operator==(const Function&, const Function&) = default;

  const TensorType& type(ValueId value) const;
  ValueId append(Operation operation);
};

/// Data that is made of a parameter while it is written.
struct Preparation {
  std::string parameter;  ///< its path
  Graph body;             ///< of a prepared parameter
};

/// A parameter whose data stands in an archive.
struct Global {
  std::string name;
  std::string scope;  ///< of the archive, as the runtime is told
  /// Of the data in the archive: the parameter's path, and after an `@` what was made of it.
  std::string key;
  TensorType type;                                      ///< of the data
  std::shared_ptr<const Preparation> preparation = {};  ///< null: the data as the model has it
  /// Keys of what the model has beside it with the same data and type, sorted: the archive has them
  /// too, so that other programs of the model find them.
  std::vector<std::string> equal_keys = {};
  friend bool operator==(const Global&, const Global&) = default;
};

/// How an op is called in programs: as its record says, else `capra.<op>`, version 1.
struct CompositeName {
  std::string name;
  int64_t version = 1;
  friend bool operator==(const CompositeName&, const CompositeName&) = default;
};
CompositeName composite_name(const OpDef& op);

/// How elements of the dtype are compared: FLOAT, SIGNED or UNSIGNED.
std::string_view comparison_type(DType dtype);

/// The signed integer of as many bits for an unsigned one; other dtypes as they are.
DType signed_of(DType dtype);
/// The type that the text declares and a load gives: IREE loads no unsigned integers, so the bits
/// of these are loaded as signed ones, and a `stablehlo.bitcast_convert` makes them what they are.
TensorType loaded_type(const Global& global);

struct Module {
  std::vector<Global> globals;
  std::vector<Function> functions;
  Dictionary attributes = {};  ///< of the module itself
  friend bool operator==(const Module&, const Module&) = default;
};

/// The function that a program is called by.
struct Entry {
  std::string name;
  std::vector<TensorType> arguments;
  std::vector<TensorType> results;
};
Entry entry_of(const Function& function);

/// The entry is a public function of its types, operands come before their users, names are unique,
/// symbols name what the module has, a load has the type of its global, and a composite and its
/// decomposition take and give the same types. Operations that the reader knows have the operands
/// and attributes that their form needs; others have no attributes, which nobody would write. What
/// an operation does with its operands is for the dialect's own verifier. Fails with
/// `program-invalid`, `at` the function and its operation.
Status verify_module(const Module& module, const Entry& entry);

/// The module's text, ended by a line end.
std::string print_module(const Module& module);

/// `tensor<?x384xf32>`.
std::string type_text(const TensorType& type);
/// `?x384xf32`, with `dynamic` in the place of `?`.
std::string extents_text(const TensorType& type, std::string_view dynamic);
/// What stands between the brackets of `dense<...>`: equal elements once, a few as a list, many as
/// their bytes. Numbers keep their bits.
std::string dense_text(const Array& array);

}  // namespace capra::stablehlo
