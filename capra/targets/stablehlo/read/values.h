// Types, numbers, lists and attributes of a program's text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capra/targets/stablehlo/module.h"
#include "capra/targets/stablehlo/read/lexer.h"

namespace capra::stablehlo {

/// The symbol of every `?` that is read: the text names no dynamic dim.
inline constexpr const char* kDynamic = "?";

Result<TensorType> read_type(Lexer& lexer);
/// A type of numbers alone.
Result<TensorType> read_static_type(Lexer& lexer);
Result<int64_t> read_int(Lexer& lexer);
Result<std::string> read_string(Lexer& lexer);
Result<std::string> read_symbol(Lexer& lexer);
/// `[0, 1]`.
Result<std::vector<int64_t>> read_list(Lexer& lexer);
/// `array<i64: 0, 1>`.
Result<std::vector<int64_t>> read_array(Lexer& lexer);
/// `{axis = 1 : i64, ...}`; no array of elements is an attribute of what is emitted.
Result<Dictionary> read_dictionary(Lexer& lexer);
/// `dense<...> : tensor<...>`: the elements, one where all are equal, and the type.
struct DenseValue {
  Array value;
  TensorType type;
};
Result<DenseValue> read_dense(Lexer& lexer);

}  // namespace capra::stablehlo
