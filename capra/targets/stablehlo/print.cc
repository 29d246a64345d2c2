// The printer: one form an operation, as the dialect's own printer writes it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "capra/base/number_text.h"
#include "capra/targets/stablehlo/module.h"

namespace capra::stablehlo {
namespace {

using Ints = std::vector<int64_t>;

std::string list_text(const Ints& values) {
  return "[" + fmt::format("{}", fmt::join(values, ", ")) + "]";
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
    result += plain ? std::string(1, c) : fmt::format("\\{:02X}", static_cast<unsigned char>(c));
  }
  return result + "\"";
}

// As it is where the dialect takes it as an identifier, else in quotes.
std::string name_text(const std::string& name) {
  const auto bare = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '$' || c == '.';
  };
  const bool starts =
      !name.empty() && (std::isalpha(static_cast<unsigned char>(name[0])) != 0 || name[0] == '_');
  return starts && std::ranges::all_of(name, bare) ? name : quoted(name);
}

std::string symbol_text(const std::string& name) { return "@" + name_text(name); }

std::string dictionary_text(const Dictionary& dictionary);

struct AttributeText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return number_text(value) + " : i64"; }
  std::string operator()(double value) const {
    return dense_text(Array::scalar(DType::F64, value)) + " : f64";
  }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(const Ints& value) const {
    if (value.empty()) return "array<i64>";
    return "array<i64: " + fmt::format("{}", fmt::join(value, ", ")) + ">";
  }
  std::string operator()(const Array& value) const {
    return "dense<" + dense_text(value) + "> : " + type_text(value.type());
  }
  std::string operator()(const Symbol& value) const { return symbol_text(value.name); }
  std::string operator()(const Dictionary& value) const { return dictionary_text(value); }
};

std::string dictionary_text(const Dictionary& dictionary) {
  std::string text = "{";
  for (const NamedAttribute& one : dictionary) {
    text += (text.size() > 1 ? ", " : "") + name_text(one.name) + " = " +
            std::visit(AttributeText(), one.value);
  }
  return text + "}";
}

class Printer {
 public:
  std::string print(const Module& module) {
    text_ = "module ";
    if (!module.attributes.empty()) {
      text_ += "attributes " + dictionary_text(module.attributes) + " ";
    }
    text_ += "{\n";
    for (const Global& global : module.globals) {
      text_ += fmt::format("  util.global private {} = #flow.parameter.named<{}::{}> : {}\n",
                           symbol_text(global.name), quoted(global.scope), quoted(global.key),
                           type_text(loaded_type(global)));
    }
    for (const Function& function : module.functions) print_function(function);
    return text_ + "}\n";
  }

 private:
  void print_function(const Function& function) {
    function_ = &function;
    text_ += fmt::format("  func.func {}{}(", function.is_private ? "private " : "",
                         symbol_text(function.name));
    for (size_t i = 0; i < function.arguments.size(); ++i) {
      const Argument& argument = function.arguments[i];
      text_ +=
          fmt::format("{}%{}: {}", i == 0 ? "" : ", ", argument.name, type_text(argument.type));
    }
    text_ += ")";
    const std::string results = types(function.results);
    if (function.results.size() == 1) text_ += " -> " + results;
    if (function.results.size() > 1) text_ += " -> (" + results + ")";
    text_ += " {\n";
    const auto first = static_cast<ValueId>(function.arguments.size());
    for (size_t i = 0; i < function.operations.size(); ++i) {
      const Operation& operation = function.operations[i];
      text_ += fmt::format("    {} = {}\n", value(first + static_cast<ValueId>(i)),
                           operation_text(operation));
    }
    text_ += "    return";
    if (!function.results.empty()) text_ += " " + values(function.results) + " : " + results;
    text_ += "\n  }\n";
  }

  std::string value(ValueId id) const {
    const auto position = static_cast<size_t>(id);
    const size_t arguments = function_->arguments.size();
    if (position < arguments) return "%" + function_->arguments[position].name;
    return fmt::format("%{}", position - arguments);
  }
  std::string values(const std::vector<ValueId>& ids) const {
    std::string text;
    for (const ValueId id : ids) text += (text.empty() ? "" : ", ") + value(id);
    return text;
  }
  std::string types(const std::vector<ValueId>& ids) const {
    std::string text;
    for (const ValueId id : ids)
      text += (text.empty() ? "" : ", ") + type_text(function_->type(id));
    return text;
  }
  std::string signature(const Operation& operation) const {
    return fmt::format("({}) -> {}", types(operation.operands), type_text(operation.type));
  }

  // Everything after the `=`.
  std::string operation_text(const Operation& operation) const {
    const std::string_view name = operation.name;
    const std::string result = type_text(operation.type);
    if (name == "stablehlo.constant") {
      return fmt::format("{} dense<{}> : {}", name, dense_text(operation.attribute<Array>("value")),
                         result);
    }
    if (name == "util.global.load") {
      return fmt::format("{} {} : {}", name,
                         symbol_text(operation.attribute<Symbol>("global").name), result);
    }
    if (name == "stablehlo.iota") {
      return fmt::format("{} dim = {} : {}", name, operation.attribute<int64_t>("dim"), result);
    }
    if (name == "arith.constant") {
      return fmt::format("{} {} : index", name, operation.attribute<int64_t>("value"));
    }
    if (name.starts_with("tensor.")) return tensor_text(operation);
    const std::string operands = values(operation.operands);
    if (name == "stablehlo.select") {
      return fmt::format("{} {} : {}, {}", name, operands,
                         type_text(function_->type(operation.operands[0])), result);
    }
    if (name.starts_with("chlo.")) {
      return fmt::format("{} {} : {} -> {}", name, operands, types(operation.operands), result);
    }
    if (name == "stablehlo.gather") return gather_text(operation);
    const std::string form = form_text(operation, operands);
    if (!form.empty()) return fmt::format("{} {} : {}", name, form, signature(operation));
    return fmt::format("{} {} : {}", name, operands, result);
  }

  // Of operations that end in a signature: what stands between name and colon. Empty for those
  // whose operands and result have one type.
  static std::string form_text(const Operation& operation, const std::string& operands) {
    const std::string_view name = operation.name;
    if (name == "stablehlo.convert" || name == "stablehlo.bitcast_convert" ||
        name == "stablehlo.reshape" || name == "stablehlo.real_dynamic_slice") {
      return operands;
    }
    if (name == "stablehlo.compare") {
      return fmt::format("{}, {}, {}", operation.attribute<std::string>("direction"), operands,
                         operation.attribute<std::string>("type"));
    }
    if (name == "stablehlo.get_dimension_size" || name == "stablehlo.concatenate" ||
        name == "stablehlo.dynamic_iota") {
      return fmt::format("{}, dim = {}", operands, operation.attribute<int64_t>("dim"));
    }
    if (name == "stablehlo.transpose" || name == "stablehlo.broadcast_in_dim") {
      return fmt::format("{}, dims = {}", operands, list_text(operation.attribute<Ints>("dims")));
    }
    if (name == "stablehlo.dynamic_broadcast_in_dim")
      return dynamic_broadcast_text(operation, operands);
    if (name == "stablehlo.slice") return slice_text(operation, operands);
    if (name == "stablehlo.dot_general") return dot_text(operation, operands);
    if (name == "stablehlo.reduce") {
      const size_t comma = operands.find(", ");
      return fmt::format("({} init: {}) applies {} across dimensions = {}",
                         operands.substr(0, comma), operands.substr(comma + 2),
                         operation.attribute<std::string>("applies"),
                         list_text(operation.attribute<Ints>("dimensions")));
    }
    if (name == "stablehlo.composite") {
      return fmt::format(
          "{}{} {{composite_attributes = {}, decomposition = {}, version = {} : i32}}",
          quoted(operation.attribute<std::string>("name")), operands.empty() ? "" : " " + operands,
          dictionary_text(operation.attribute<Dictionary>("composite_attributes")),
          symbol_text(operation.attribute<Symbol>("decomposition").name),
          operation.attribute<int64_t>("version"));
    }
    return {};
  }

  static std::string dynamic_broadcast_text(const Operation& operation,
                                            const std::string& operands) {
    Dictionary known;
    for (const NamedAttribute& one : operation.attributes) {
      if (one.name.starts_with("known_")) known.push_back(one);
    }
    return fmt::format("{}, dims = {}{}", operands, list_text(operation.attribute<Ints>("dims")),
                       known.empty() ? "" : " " + dictionary_text(known));
  }

  static std::string slice_text(const Operation& operation, const std::string& operands) {
    const Ints& starts = operation.attribute<Ints>("starts");
    const Ints& limits = operation.attribute<Ints>("limits");
    const Ints& strides = operation.attribute<Ints>("strides");
    std::string box;
    for (size_t i = 0; i < starts.size(); ++i) {
      box += fmt::format("{}{}:{}", i == 0 ? "" : ", ", starts[i], limits[i]);
      if (strides[i] != 1) box += fmt::format(":{}", strides[i]);
    }
    return fmt::format("{} [{}]", operands, box);
  }

  static std::string dot_text(const Operation& operation, const std::string& operands) {
    std::string text = operands;
    const Ints& batching = operation.attribute<Ints>("batching");
    if (!batching.empty()) {
      text += fmt::format(", batching_dims = {0} x {0}", list_text(batching));
    }
    return text + fmt::format(", contracting_dims = [{}] x [{}]",
                              operation.attribute<int64_t>("left"),
                              operation.attribute<int64_t>("right"));
  }

  // The operations of the tensor dialect that reshape dynamic dims.
  std::string tensor_text(const Operation& operation) const {
    const std::string from = type_text(function_->type(operation.operands[0]));
    if (operation.name == "tensor.dim") {
      return fmt::format("{} {} : {}", operation.name, values(operation.operands), from);
    }
    // `[[0], [1, 2]]`: which dims stand for each dim of the folded side.
    std::string groups;
    int64_t next = 0;
    for (const int64_t count : operation.attribute<Ints>("counts")) {
      Ints dims;
      for (int64_t i = 0; i < count; ++i) dims.push_back(next++);
      groups += (groups.empty() ? "" : ", ") + list_text(dims);
    }
    std::string sizes;
    if (operation.name == "tensor.expand_shape") {
      size_t dynamic = 1;
      for (const Dim& dim : operation.type.shape.dims()) {
        sizes += (sizes.empty() ? "" : ", ") +
                 (dim.is_static() ? dim.text() : value(operation.operands[dynamic++]));
      }
      sizes = " output_shape [" + sizes + "]";
    }
    return fmt::format("{} {} [{}]{} : {} into {}", operation.name, value(operation.operands[0]),
                       groups, sizes, from, type_text(operation.type));
  }

  std::string gather_text(const Operation& operation) const {
    return fmt::format(
        "\"{}\"({}) {{dimension_numbers = #stablehlo.gather<offset_dims = {}, "
        "collapsed_slice_dims = {}, start_index_map = {}, index_vector_dim = {}>, slice_sizes = "
        "{}, indices_are_sorted = false}} : {}",
        operation.name, values(operation.operands),
        list_text(operation.attribute<Ints>("offset_dims")),
        list_text({operation.attribute<int64_t>("axis")}),
        list_text({operation.attribute<int64_t>("axis")}),
        operation.attribute<int64_t>("index_vector_dim"),
        AttributeText()(operation.attribute<Ints>("slice_sizes")), signature(operation));
  }

  const Function* function_ = nullptr;
  std::string text_;
};

}  // namespace

std::string print_module(const Module& module) { return Printer().print(module); }

}  // namespace capra::stablehlo
