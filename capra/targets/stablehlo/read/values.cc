// Elements keep their bits: what is read prints as it was.
#include "capra/targets/stablehlo/read/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "capra/base/number_text.h"

namespace capra::stablehlo {
namespace {

// Dictionaries in dictionaries and lists in lists.
constexpr int kDeepest = 64;

std::optional<DType> element_dtype(std::string_view name) {
  if (name == "i1") return DType::Bool;
  if (name.starts_with("ui")) return parse_dtype("u" + std::string(name.substr(2)));
  const std::optional<DType> dtype = parse_dtype(name);
  const bool other = dtype && !is_float(*dtype) && !is_signed_integer(*dtype);
  return other ? std::nullopt : dtype;  // `u8` and `bool` are no names of the dialect
}

bool is_hex(std::string_view text) { return text.starts_with("0x"); }

// The bytes that pairs of digits stand for, first pair first; nothing for anything else.
std::optional<std::vector<std::byte>> bytes_of(std::string_view digits) {
  const auto value = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  if (digits.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> bytes(digits.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int high = value(digits[2 * i]);
    const int low = value(digits[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes[i] = static_cast<std::byte>(high * 16 + low);
  }
  return bytes;
}

// The elements of a literal before its type is known.
struct Literal {
  std::vector<Token> elements;
  std::vector<int64_t> sizes;  ///< of lists in lists; none for one element
  bool is_bytes = false;       ///< one string of bytes
};

Status read_elements(Lexer& lexer, Literal& literal, size_t depth, bool first) {
  const Token token = lexer.peek();
  if (!token.is("[")) {
    const bool is_element =
        token.kind == TokenKind::Number || token.is("true") || token.is("false");
    if (!is_element) return lexer.needed(token, "an element or '['");
    if (literal.sizes.size() != depth) return lexer.needed(token, "a list");
    literal.elements.push_back(lexer.next());
    return {};
  }
  lexer.next();
  if (depth >= kDeepest) return lexer.needed(token, "lists that are less deep");
  if (first) literal.sizes.push_back(0);
  if (depth >= literal.sizes.size()) return lexer.needed(token, "an element");
  int64_t count = 0;
  do {
    CAPRA_TRY(read_elements(lexer, literal, depth + 1, first && count == 0));
    ++count;
  } while (lexer.take(","));
  if (first) literal.sizes[depth] = count;
  if (literal.sizes[depth] != count) {
    return lexer.needed(lexer.peek(), "a list of " + number_text(literal.sizes[depth]));
  }
  return lexer.expect("]");
}

// False where the dtype does not hold the element.
bool store_integer(Array& array, int64_t index, std::string_view text) {
  if (array.dtype() == DType::U64) {
    const std::optional<uint64_t> value = parse_u64(text);
    if (value) array.set_i64(index, static_cast<int64_t>(*value));
    return value.has_value();
  }
  const std::optional<int64_t> value = parse_i64(text);
  if (!value) return false;
  array.set_i64(index, *value);
  return array.i64_at(index) == *value;
}

bool store_float(Array& array, int64_t index, std::string_view text) {
  if (is_hex(text)) {
    // The bits as one number: the last byte in memory is the highest.
    std::optional<std::vector<std::byte>> bytes = bytes_of(text.substr(2));
    const size_t size = dtype_bytes(array.dtype());
    if (!bytes || bytes->size() != size) return false;
    std::ranges::reverse(*bytes);
    std::memcpy(array.mutable_data() + static_cast<size_t>(index) * size, bytes->data(), size);
    return true;
  }
  if (text.find('.') == std::string_view::npos) return false;
  const std::optional<double> value = parse_f64(text);
  if (!value) return false;
  array.set(index, *value);
  return std::isfinite(array.f64_at(index));
}

bool store(Array& array, int64_t index, const Token& token) {
  if (token.kind == TokenKind::Word) {
    array.set_i64(index, token.is("true") ? 1 : 0);
    return array.dtype() == DType::Bool;
  }
  if (array.dtype() == DType::Bool) return false;
  return is_float(array.dtype()) ? store_float(array, index, token.text)
                                 : store_integer(array, index, token.text);
}

Failure type_mismatch(const Lexer& lexer, const Token& token, std::string message) {
  return fail("type-mismatch", std::move(message), lexer.at(token));
}

Result<Array> bytes_array(const Lexer& lexer, const Token& token, const TensorType& type) {
  const std::string_view digits = token.text.substr(1, token.text.size() - 2);
  const auto bytes = is_hex(digits) ? bytes_of(digits.substr(2)) : std::nullopt;
  if (!bytes || type.dtype == DType::Bool) return lexer.needed(token, "\"0x\" and bytes");
  const uint64_t wanted = byte_size(type);
  if (bytes->size() != wanted) {
    return type_mismatch(lexer, token,
                         "found " + number_text(bytes->size()) + " bytes, " + type_text(type) +
                             " has " + number_text(wanted));
  }
  Array array = Array::zeros(type.dtype, type.shape.sizes());
  if (wanted > 0) std::memcpy(array.mutable_data(), bytes->data(), wanted);
  return array;
}

Result<Array> literal_array(const Lexer& lexer, const Token& start, const Literal& literal,
                            const TensorType& type) {
  if (literal.is_bytes) return bytes_array(lexer, literal.elements[0], type);
  const bool is_empty = literal.elements.empty();
  if (is_empty ? type.shape.elements() != 0
               : !literal.sizes.empty() && Shape(literal.sizes) != type.shape) {
    return type_mismatch(lexer, start,
                         "found elements of shape " +
                             (is_empty ? std::string("[0]") : Shape(literal.sizes).text()) +
                             ", needed those of " + type_text(type));
  }
  Array array = Array::zeros(type.dtype, is_empty ? type.shape.sizes() : literal.sizes);
  for (size_t i = 0; i < literal.elements.size(); ++i) {
    const Token& token = literal.elements[i];
    if (!store(array, static_cast<int64_t>(i), token)) {
      return type_mismatch(lexer, token,
                           "found '" + std::string(token.text.substr(0, 40)) +
                               "', needed an element of " + type_text(type));
    }
  }
  return array;
}

Result<Dictionary> read_entries(Lexer& lexer, int depth);

Result<Attribute> read_attribute(Lexer& lexer, int depth) {
  const Token token = lexer.peek();
  if (token.is("true") || token.is("false")) return Attribute(lexer.next().is("true"));
  if (token.is("array")) {
    CAPRA_ASSIGN(std::vector<int64_t> values, read_array(lexer));
    return Attribute(std::move(values));
  }
  if (token.is("{")) {
    CAPRA_ASSIGN(Dictionary entries, read_entries(lexer, depth + 1));
    return Attribute(std::move(entries));
  }
  if (token.kind == TokenKind::String) {
    CAPRA_ASSIGN(std::string text, read_string(lexer));
    return Attribute(std::move(text));
  }
  if (token.kind == TokenKind::Symbol) {
    CAPRA_ASSIGN(std::string name, read_symbol(lexer));
    return Attribute(Symbol{std::move(name)});
  }
  if (token.kind != TokenKind::Number) return lexer.needed(token, "a value");
  lexer.next();
  CAPRA_TRY(lexer.expect(":"));
  Array number = Array::zeros(lexer.peek().is("f64") ? DType::F64 : DType::I64, {});
  if (!lexer.take("f64")) CAPRA_TRY(lexer.expect("i64"));
  if (!store(number, 0, token)) {
    return lexer.needed(token, "a number of " + std::string(dtype_name(number.dtype())));
  }
  if (number.dtype() == DType::F64) return Attribute(number.f64_at(0));
  return Attribute(number.i64_at(0));
}

Result<Dictionary> read_entries(Lexer& lexer, int depth) {
  if (depth >= kDeepest) return lexer.needed(lexer.peek(), "attributes that are less deep");
  CAPRA_TRY(lexer.expect("{"));
  Dictionary dictionary;
  if (lexer.take("}")) return dictionary;
  do {
    const Token token = lexer.peek();
    const bool is_quoted = token.kind == TokenKind::String;
    if (!is_quoted) CAPRA_TRY(lexer.expect(TokenKind::Word, "the name of an attribute"));
    CAPRA_ASSIGN(std::string name, is_quoted ? read_string(lexer) : std::string(token.text));
    CAPRA_TRY(lexer.expect("="));
    CAPRA_ASSIGN(Attribute value, read_attribute(lexer, depth));
    if (std::ranges::find(dictionary, name, &NamedAttribute::name) != dictionary.end()) {
      return lexer.needed(token, "a name that no other attribute has");
    }
    dictionary.push_back({std::move(name), std::move(value)});
  } while (lexer.take(","));
  CAPRA_TRY(lexer.expect("}"));
  return dictionary;
}

}  // namespace

Result<TensorType> read_type(Lexer& lexer) {
  CAPRA_ASSIGN(const Token token, lexer.expect(TokenKind::Type, "a type such as tensor<2xf32>"));
  std::string_view rest = token.text.substr(7, token.text.size() - 8);
  TensorType type;
  std::vector<Dim> dims;
  for (size_t x = rest.find('x'); x != std::string_view::npos; x = rest.find('x')) {
    const std::string_view extent = rest.substr(0, x);
    const std::optional<int64_t> size = parse_i64(extent);
    if (extent != kDynamic && (!size || *size < 0)) {
      return lexer.needed(token, "extents that are numbers or ?");
    }
    dims.push_back(size ? Dim(*size) : Dim(kDynamic));
    rest = rest.substr(x + 1);
  }
  const std::optional<DType> dtype = element_dtype(rest);
  if (!dtype) return lexer.needed(token, "a type of f64, f32, f16, bf16, i1, i8... or ui8...");
  type = {*dtype, Shape(std::move(dims))};
  if (!fits_memory(type)) {
    return fail("shape-too-large", "the bytes of " + type_text(type) + " cannot be counted",
                lexer.at(token));
  }
  return type;
}

Result<TensorType> read_static_type(Lexer& lexer) {
  const Token token = lexer.peek();
  CAPRA_ASSIGN(TensorType type, read_type(lexer));
  if (!type.shape.is_static()) return lexer.needed(token, "a type of numbers alone");
  return type;
}

Result<int64_t> read_int(Lexer& lexer) {
  const Token token = lexer.peek();
  const std::optional<int64_t> value =
      token.kind == TokenKind::Number ? parse_i64(token.text) : std::nullopt;
  if (!value) return lexer.needed(token, "an integer");
  lexer.next();
  return *value;
}

Result<std::string> read_string(Lexer& lexer) {
  CAPRA_ASSIGN(const Token token, lexer.expect(TokenKind::String, "a string"));
  return unquote(lexer, token);
}

Result<std::string> read_symbol(Lexer& lexer) {
  CAPRA_ASSIGN(const Token token, lexer.expect(TokenKind::Symbol, "a name such as @main"));
  return unquote(lexer, token);
}

Result<std::vector<int64_t>> read_list(Lexer& lexer) {
  CAPRA_TRY(lexer.expect("["));
  std::vector<int64_t> values;
  if (lexer.take("]")) return values;
  do {
    CAPRA_ASSIGN(const int64_t value, read_int(lexer));
    values.push_back(value);
  } while (lexer.take(","));
  CAPRA_TRY(lexer.expect("]"));
  return values;
}

Result<std::vector<int64_t>> read_array(Lexer& lexer) {
  CAPRA_TRY(lexer.expect_all("array < i64"));
  std::vector<int64_t> values;
  if (lexer.take(">")) return values;
  CAPRA_TRY(lexer.expect(":"));
  do {
    CAPRA_ASSIGN(const int64_t value, read_int(lexer));
    values.push_back(value);
  } while (lexer.take(","));
  CAPRA_TRY(lexer.expect(">"));
  return values;
}

Result<Dictionary> read_dictionary(Lexer& lexer) { return read_entries(lexer, 0); }

Result<DenseValue> read_dense(Lexer& lexer) {
  const Token start = lexer.peek();
  CAPRA_TRY(lexer.expect_all("dense <"));
  Literal literal;
  if (lexer.peek().kind == TokenKind::String) {
    literal.is_bytes = true;
    literal.elements.push_back(lexer.next());
  } else if (!lexer.peek().is(">")) {
    CAPRA_TRY(read_elements(lexer, literal, 0, true));
  }
  CAPRA_TRY(lexer.expect_all("> :"));
  CAPRA_ASSIGN(TensorType type, read_static_type(lexer));
  CAPRA_ASSIGN(Array value, literal_array(lexer, start, literal, type));
  return DenseValue{std::move(value), std::move(type)};
}

}  // namespace capra::stablehlo
