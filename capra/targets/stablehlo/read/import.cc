// Operations become calls, traced one after the other. Shapes as values are numbers here.
#include "capra/targets/stablehlo/read/import.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "capra/base/number_text.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/tape.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/broadcast.h"
#include "capra/ops/compare.h"
#include "capra/ops/concat.h"
#include "capra/ops/constant.h"
#include "capra/ops/convert.h"
#include "capra/ops/gather.h"
#include "capra/ops/iota.h"
#include "capra/ops/permute.h"
#include "capra/ops/reshape.h"
#include "capra/ops/select.h"
#include "capra/ops/slice.h"
#include "capra/targets/stablehlo/read/arithmetic.h"
#include "capra/targets/stablehlo/read/composite.h"
#include "capra/targets/stablehlo/read/float_bits.h"

namespace capra::stablehlo {
namespace {

using Ints = std::vector<int64_t>;

// A value of a function.
struct Imported {
  Tensor tensor = {};
  std::optional<Ints> numbers = {};  ///< of a shape or an index
  FloatBits bits = {};               ///< of a float, in the place of a tensor
};

class Importer {
 public:
  Importer(const Module& module, const ImportOptions& options)
      : module_(module),
        options_(options),
        context_(TraceSink::begin(options.function.empty() ? first_name() : options.function)) {}

  Graph run() {
    const Function& function = find_function(sink().tape().name);
    if (!options_.inputs.empty() && options_.inputs.size() != function.arguments.size()) {
      throw Error({"input-count", "found " + number_text(options_.inputs.size()) + " types, @" +
                                      function.name + " has " +
                                      number_text(function.arguments.size()) + " arguments"});
    }
    std::vector<Imported> arguments;
    for (size_t i = 0; i < function.arguments.size(); ++i) {
      const Argument& argument = function.arguments[i];
      const TensorType& type = options_.inputs.empty() ? argument.type : options_.inputs[i];
      if (!type.shape.is_static()) {
        throw Error({"symbol-unbound", "argument " + argument.name + " is " + type_text(type),
                     "@" + function.name, "give the inputs types of numbers"});
      }
      require_fits(type, argument.type);
      arguments.push_back({.tensor = sink().input(context_, argument.name, type)});
    }
    const std::vector<Imported> results = call(function, std::move(arguments));
    for (size_t i = 0; i < results.size(); ++i) {
      sink().output(tensor_of(results[i]), "result" + number_text(i));
    }
    return build_graph(sink().take_tape());
  }

  /// The operation in hand, for diagnostics.
  const std::string& place() const { return place_; }

 private:
  TraceSink& sink() { return static_cast<TraceSink&>(context_.sink()); }

  std::string first_name() const {
    return module_.functions.empty() ? "main" : module_.functions[0].name;
  }

  const Function& find_function(const std::string& name) const {
    const auto found = std::ranges::find(module_.functions, name, &Function::name);
    if (found == module_.functions.end()) {
      throw Error({"op-unknown", "the module has no function @" + name});
    }
    return *found;
  }

  // Numbers where the text has them, and the same dtype and rank.
  static void require_fits(const TensorType& found, const TensorType& declared) {
    bool fits = found.dtype == declared.dtype && found.shape.rank() == declared.shape.rank();
    for (int64_t axis = 0; fits && axis < found.shape.rank(); ++axis) {
      fits = !declared.shape[axis].is_static() || declared.shape[axis] == found.shape[axis];
    }
    if (!fits) {
      throw Error({"type-mismatch", "found " + type_text(found) + " for what is declared as " +
                                        type_text(declared)});
    }
  }

  std::vector<Imported> call(const Function& function, std::vector<Imported> values) {
    for (const Operation& operation : function.operations) {
      const auto id = static_cast<ValueId>(values.size());
      place_ = "@" + function.name + ", %" +
               number_text(values.size() - function.arguments.size()) + " = " +
               std::string(operation.name);
      Imported value = operation.name == "util.global.load"
                           ? Imported{.tensor = parameter(operation, data_dtype(function, id))}
                           : import(operation, values);
      if (value.tensor) require_fits(value.tensor.type(), operation.type);
      values.push_back(std::move(value));
    }
    std::vector<Imported> results;
    results.reserve(function.results.size());
    for (const ValueId id : function.results) results.push_back(values[static_cast<size_t>(id)]);
    return results;
  }

  Tensor tensor_of(const Imported& value) {
    if (value.tensor) return value.tensor;
    if (!value.numbers) {
      throw Error({"op-not-legal", "bits of floats are no numbers here", place_,
                   "only signs are copied and exponents made of them"});
    }
    throw Error({"op-not-legal", "an index is no tensor", place_});
  }

  const Ints& numbers_of(const Imported& value) const {
    if (value.numbers) return *value.numbers;
    throw Error({"op-not-legal", "a shape depends on data", place_,
                 "shapes are made of extents and constants"});
  }

  Imported import(const Operation& operation, const std::vector<Imported>& values) {
    const std::string_view name = operation.name;
    std::vector<Imported> operands;
    operands.reserve(operation.operands.size());
    for (const ValueId id : operation.operands) operands.push_back(values[static_cast<size_t>(id)]);
    if (name == "arith.constant") return {.numbers = Ints{operation.attribute<int64_t>("value")}};
    if (name == "tensor.dim") {
      const int64_t axis = numbers_of(operands[1])[0];
      const Shape shape = tensor_of(operands[0]).shape();
      if (axis < 0 || axis >= shape.rank()) {
        throw Error({"attribute-invalid", "axis " + number_text(axis) + " is no dim of its operand",
                     place_});
      }
      return {.numbers = Ints{shape[axis].size()}};
    }
    if (name == "stablehlo.constant") return constant_value(operation);
    if (name == "stablehlo.composite") return {.tensor = composite(operation, operands)};
    if (std::optional<Imported> bits = import_bits(operation, operands)) return *bits;
    std::vector<Tensor> tensors;
    for (const Imported& operand : operands) {
      const bool is_index = operand.numbers && !operand.tensor;
      tensors.push_back(is_index ? Tensor() : tensor_of(operand));
    }
    if (std::optional<Tensor> made = import_arithmetic(context_, operation, tensors)) {
      return {.tensor = rounded(*made, operation)};
    }
    return import_movement(operation, operands, tensors);
  }

  Tensor rounded(const Tensor& x, const Operation& operation) {
    const bool rounds = options_.round_results && is_float(x.dtype()) && x.dtype() != DType::F64 &&
                        operation.name != "stablehlo.convert";
    return rounds ? apply(kConvert, {x}, pack(ConvertAttrs{x.dtype()})) : x;
  }

  Imported constant_value(const Operation& operation) {
    const auto& value = operation.attribute<Array>("value");
    Imported imported{.tensor = constant(context_, value)};
    const Shape& shape = operation.type.shape;
    if (value.type().shape != shape) imported.tensor = broadcast(imported.tensor, shape);
    const int64_t count = shape.rank() == 0 ? 1 : shape[0].size();
    if (is_integer(value.dtype()) && shape.rank() <= 1 && count <= kMostExtents) {
      imported.numbers.emplace();
      for (int64_t i = 0; i < count; ++i) {
        imported.numbers->push_back(value.i64_at(value.elements() == 1 ? 0 : i));
      }
    }
    return imported;
  }

  Tensor composite(const Operation& operation, const std::vector<Imported>& operands) {
    std::vector<Tensor> tensors;
    tensors.reserve(operands.size());
    for (const Imported& operand : operands) tensors.push_back(tensor_of(operand));
    if (options_.whole_composites) {
      const std::optional<Tensor> made = import_composite(context_, operation, tensors);
      if (made) return *made;
    }
    const Function& body = find_function(operation.attribute<Symbol>("decomposition").name);
    if (std::exchange(in_body_, true) || body.arguments.size() != operands.size() ||
        body.results.size() != 1) {
      throw Error({"op-not-legal", "@" + body.name + " is no body of this composite", place_,
                   "a body has the composite's operands, one result and no composites"});
    }
    const std::string here = place_;
    const std::vector<Imported> results = call(body, operands);
    place_ = here;
    in_body_ = false;
    return tensor_of(results[0]);
  }

  // Of bits: what they mean. Nothing where no bits of floats are involved.
  std::optional<Imported> import_bits(const Operation& operation,
                                      const std::vector<Imported>& operands) {
    const std::string_view name = operation.name;
    if (name == "stablehlo.bitcast_convert") {
      if (operands[0].bits) return Imported{.tensor = float_of(operands[0].bits)};
      const Tensor x = tensor_of(operands[0]);
      if (is_float(x.dtype()) || is_float(operation.type.dtype)) {
        return Imported{.bits = bits_of(x, operation.type.dtype)};
      }
      // Integers of one size wrap to the same bits.
      return Imported{.tensor = convert(x, operation.type.dtype)};
    }
    const bool has_bits = std::ranges::any_of(
        operands, [](const Imported& one) { return static_cast<bool>(one.bits); });
    if (!has_bits) return std::nullopt;
    if (operands.size() == 2 && operands[1].bits) {
      return Imported{.bits = joined(operation, operands[0].bits, operands[1].bits)};
    }
    // The number is the same in every element.
    const std::optional<int64_t> number =
        operands.size() == 2 ? number_of(operands[1].tensor) : std::nullopt;
    return Imported{.bits = masked(operation, operands[0].bits, number)};
  }

  // What a constant repeats.
  std::optional<int64_t> number_of(const Tensor& tensor) {
    const std::vector<TapeEntry>& entries = sink().tape().entries;
    const TapeEntry* entry = &entries[static_cast<size_t>(tensor.value())];
    if (entry->op == &kBroadcast) entry = &entries[static_cast<size_t>(entry->operands[0])];
    if (entry->op != &kConstant) return std::nullopt;
    const Array value = unpack<ConstantAttrs>(entry->attrs).value;
    return value.elements() == 1 ? std::optional(value.i64_at(0)) : std::nullopt;
  }

  Imported import_movement(const Operation& operation, const std::vector<Imported>& operands,
                           const std::vector<Tensor>& tensors) {
    const std::string_view name = operation.name;
    if (name == "stablehlo.get_dimension_size") {
      return known({tensors[0].shape()[operation.attribute<int64_t>("dim")].size()}, {});
    }
    if (name == "stablehlo.reshape") {
      Imported made{.tensor = reshape(tensors[0], operation.type.shape)};
      if (operation.type.shape.rank() <= 1) made.numbers = operands[0].numbers;
      return made;
    }
    if (name == "stablehlo.concatenate") return concatenate(operation, operands, tensors);
    if (name == "stablehlo.iota") return iota_of(operation, operation.type.shape);
    if (name == "stablehlo.dynamic_iota") {
      return iota_of(operation, shape_of(operands[0], operation.type.shape.rank()));
    }
    if (name == "stablehlo.transpose") {
      return {.tensor = permute(tensors[0], operation.attribute<Ints>("dims"))};
    }
    if (name == "stablehlo.broadcast_in_dim") {
      return {.tensor = placed(tensors[0], operation, operation.type.shape)};
    }
    if (name == "stablehlo.dynamic_broadcast_in_dim") {
      return {.tensor = placed(tensors[0], operation,
                               shape_of(operands[1], operation.type.shape.rank()))};
    }
    if (name == "stablehlo.slice") {
      return {.tensor = slice(tensors[0], {.starts = operation.attribute<Ints>("starts"),
                                           .limits = Shape(operation.attribute<Ints>("limits")),
                                           .strides = operation.attribute<Ints>("strides")})};
    }
    if (name == "stablehlo.real_dynamic_slice") {
      return {.tensor =
                  slice(tensors[0], {.starts = numbers_of(operands[1]),
                                     .limits = shape_of(operands[2], tensors[0].shape().rank()),
                                     .strides = numbers_of(operands[3])})};
    }
    if (name == "stablehlo.gather") {
      return {.tensor = gather(tensors[0], tensors[1], operation.attribute<int64_t>("axis"))};
    }
    if (name == "tensor.collapse_shape") return {.tensor = collapsed(tensors[0], operation)};
    if (name == "tensor.expand_shape") {
      std::vector<Dim> dims = operation.type.shape.dims();
      size_t next = 1;
      for (Dim& dim : dims) {
        if (!dim.is_static()) dim = Dim(numbers_of(operands[next++])[0]);
      }
      return {.tensor = reshape(tensors[0], Shape(std::move(dims)))};
    }
    throw Error({"op-not-legal", "no op says what " + std::string(name) + " does", place_});
  }

  // A shape as a tensor of i32, whose numbers are known.
  Imported known(Ints numbers, const Shape& shape) {
    Array array = Array::zeros(DType::I32, shape.sizes());
    for (size_t i = 0; i < numbers.size(); ++i) array.set_i64(static_cast<int64_t>(i), numbers[i]);
    return {.tensor = constant(context_, array), .numbers = std::move(numbers)};
  }

  Shape shape_of(const Imported& value, int64_t rank) const {
    const Ints& numbers = numbers_of(value);
    const Shape shape(numbers);
    if (shape.rank() != rank) {
      throw Error(
          {"type-mismatch",
           "the shape has " + number_text(numbers.size()) + " extents, needed " + number_text(rank),
           place_});
    }
    const bool counts = std::ranges::all_of(numbers, [](int64_t size) { return size >= 0; });
    if (counts && fits_memory({DType::I64, shape})) return shape;
    throw Error({"shape-too-large", "there is no shape " + shape.text(), place_});
  }

  Imported concatenate(const Operation& operation, const std::vector<Imported>& operands,
                       const std::vector<Tensor>& tensors) {
    Imported made{.tensor = concat(tensors, operation.attribute<int64_t>("dim"))};
    Ints numbers;
    for (const Imported& operand : operands) {
      if (!operand.numbers || made.tensor.shape().rank() != 1) return made;
      numbers.insert(numbers.end(), operand.numbers->begin(), operand.numbers->end());
    }
    made.numbers = std::move(numbers);
    return made;
  }

  Imported iota_of(const Operation& operation, Shape shape) {
    return {.tensor = iota(context_, {.dtype = operation.type.dtype,
                                      .shape = std::move(shape),
                                      .axis = operation.attribute<int64_t>("dim")})};
  }

  // x with its dim i as dim dims[i] of the shape.
  Tensor placed(const Tensor& x, const Operation& operation, Shape shape) {
    const Ints& dims = operation.attribute<Ints>("dims");
    Ints order(dims.size());
    std::iota(order.begin(), order.end(), 0);
    const auto place = [&](int64_t axis) { return dims[static_cast<size_t>(axis)]; };
    std::ranges::sort(order, {}, place);
    Tensor turned = std::ranges::is_sorted(dims) ? x : permute(x, order);
    std::vector<Dim> wide(shape.dims().size(), Dim(1));
    for (const int64_t axis : order) wide[static_cast<size_t>(place(axis))] = x.shape()[axis];
    const Shape aligned(std::move(wide));
    if (aligned != turned.shape()) turned = reshape(turned, aligned);
    return aligned == shape ? turned : broadcast(turned, std::move(shape));
  }

  Tensor collapsed(const Tensor& x, const Operation& operation) {
    Ints sizes;
    int64_t next = 0;
    for (const int64_t count : operation.attribute<Ints>("counts")) {
      int64_t size = 1;
      for (int64_t i = 0; i < count; ++i) size *= x.shape()[next++].size();
      sizes.push_back(size);
    }
    return reshape(x, Shape(sizes));
  }

  // Of what is loaded: unsigned where its bits are read as that alone.
  static DType data_dtype(const Function& function, ValueId loaded) {
    const DType own = function.type(loaded).dtype;
    std::optional<DType> read;
    for (const Operation& reader : function.operations) {
      if (std::ranges::find(reader.operands, loaded) == reader.operands.end()) continue;
      const DType dtype = reader.type.dtype;
      const bool is_bits = reader.name == "stablehlo.bitcast_convert" && signed_of(dtype) == own;
      if (!is_bits || read.value_or(dtype) != dtype) return own;
      read = dtype;
    }
    const bool is_result = std::ranges::find(function.results, loaded) != function.results.end();
    return is_result ? own : read.value_or(own);
  }

  // The parameter, and its bits as they are loaded.
  Tensor parameter(const Operation& operation, DType dtype) {
    const std::string& name = operation.attribute<Symbol>("global").name;
    const auto found = std::ranges::find(module_.globals, name, &Global::name);
    if (found == module_.globals.end()) {
      throw Error({"op-unknown", "the module has no global @" + name, place_});
    }
    const TensorType type{dtype, found->type.shape};
    const Tensor data = context_.sink().parameter(context_, found->key, type);
    return dtype == operation.type.dtype ? data : convert(data, operation.type.dtype);
  }

  // More numbers than a shape has are data.
  static constexpr int64_t kMostExtents = 64;

  const Module& module_;
  const ImportOptions& options_;
  Context context_;
  std::string place_;
  bool in_body_ = false;
};

}  // namespace

Result<Graph> import_module(const Module& module, const ImportOptions& options) {
  Importer importer(module, options);
  try {
    return importer.run();
  } catch (const Error& error) {
    Diagnostic diagnostic = error.diagnostic();
    if (diagnostic.at.empty()) diagnostic.at = importer.place();
    return fail(std::move(diagnostic));
  }
}

}  // namespace capra::stablehlo
