// Types, arrays, attributes and notes from text.
#include "capra/ir/text/parse_values.h"

#include <algorithm>
#include <bit>

#include "capra/base/nearest_name.h"
#include "capra/base/number_text.h"
#include "capra/ir/text.h"
#include "capra/ir/text/values.h"

namespace capra {
namespace {

// A token that can be an element: a number, or a word such as `nan`, `inf`, `true`.
bool is_element(const Token& token) {
  return token.kind == TokenKind::Number || token.is("nan") || token.is("inf") ||
         token.is("true") || token.is("false");
}

Status read_element(TextReader& reader, Array& array, int64_t index) {
  const Token token = reader.peek();
  if (!is_element(token) || !parse_element(token.text, array, index)) {
    return reader.needed(token, "a value of " + std::string(dtype_name(array.dtype())));
  }
  reader.next();
  return {};
}

Status read_elements(TextReader& reader, Array& array, size_t axis, int64_t& index) {
  if (axis == array.sizes().size()) return read_element(reader, array, index++);
  const int64_t size = array.sizes()[axis];
  const std::string extent = number_text(size) + " elements along axis " + number_text(axis);
  CAPRA_TRY(reader.expect('[', "'[' and " + extent));
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0) CAPRA_TRY(reader.expect(',', "',' and " + extent));
    CAPRA_TRY(read_elements(reader, array, axis + 1, index));
  }
  return reader.expect(']', "']' after " + extent);
}

Failure wrong_kind(const TextReader& reader, const Token& token, const AttrField& field,
                   std::string_view owner) {
  return fail("attribute-invalid",
              std::string(owner) + ": attribute '" + std::string(field.name) + "' is " +
                  std::string(attr_kind_name(field.kind)) + ", found '" +
                  std::string(token.text.substr(0, 40)) + "'",
              reader.at(token));
}

Result<std::vector<int64_t>> read_ints(TextReader& reader) {
  std::vector<int64_t> values;
  CAPRA_TRY(reader.expect('[', "'[' and whole numbers"));
  while (!reader.peek().is(']')) {
    if (!values.empty()) CAPRA_TRY(reader.expect(',', "',' or ']'"));
    const Token token = reader.peek();
    const std::optional<int64_t> value = parse_i64(token.text);
    if (!value.has_value()) return reader.needed(token, "a whole number");
    values.push_back(*value);
    reader.next();
  }
  reader.next();
  return values;
}

std::optional<double> f64_of(std::string_view text) {
  Array array = Array::zeros(DType::F64, {});
  if (!parse_element(text, array, 0)) return std::nullopt;
  return array.as<double>()[0];
}

Result<AttrValue> read_attr(TextReader& reader, const AttrField& field, std::string_view owner,
                            SplatBudget& splats) {
  const Token token = reader.peek();
  switch (field.kind) {
    case AttrKind::Bool:
      if (!token.is("true") && !token.is("false")) return wrong_kind(reader, token, field, owner);
      return AttrValue(reader.next().is("true"));
    case AttrKind::Int: {
      const std::optional<int64_t> value = parse_i64(token.text);
      if (!value.has_value()) return wrong_kind(reader, token, field, owner);
      reader.next();
      return AttrValue(*value);
    }
    case AttrKind::Float: {
      const std::optional<double> value = is_element(token) ? f64_of(token.text) : std::nullopt;
      if (!value.has_value()) return wrong_kind(reader, token, field, owner);
      reader.next();
      return AttrValue(*value);
    }
    case AttrKind::String: {
      if (token.kind != TokenKind::String) return wrong_kind(reader, token, field, owner);
      reader.next();
      CAPRA_ASSIGN(std::string value, unquote(reader, token));
      return AttrValue(std::move(value));
    }
    case AttrKind::DType: {
      const std::optional<DType> value = parse_dtype(token.text);
      if (!value.has_value()) return wrong_kind(reader, token, field, owner);
      reader.next();
      return AttrValue(*value);
    }
    case AttrKind::Ints: {
      CAPRA_ASSIGN(std::vector<int64_t> value, read_ints(reader));
      return AttrValue(std::move(value));
    }
    case AttrKind::Shape: {
      CAPRA_ASSIGN(Shape value, read_shape(reader));
      return AttrValue(std::move(value));
    }
    case AttrKind::Array: {
      CAPRA_ASSIGN(Array value, read_array(reader, splats));
      return AttrValue(std::move(value));
    }
    case AttrKind::ResultType: {
      CAPRA_ASSIGN(TensorType value, read_type(reader));
      return AttrValue(std::move(value));
    }
  }
  return wrong_kind(reader, token, field, owner);
}

Failure unknown_attr(const TextReader& reader, const Token& token, const AttrSchema& schema,
                     std::string_view owner) {
  std::vector<std::string_view> names;
  for (const AttrField& field : schema.fields) names.push_back(field.name);
  std::string help = did_you_mean(token.text, names);
  if (help.empty()) {
    help =
        names.empty() ? std::string(owner) + " takes no attributes" : std::string(owner) + " takes";
    for (size_t i = 0; i < names.size(); ++i) {
      help += (i == 0 ? " " : ", ") + std::string(names[i]);
    }
  }
  return fail("attribute-unknown",
              std::string(owner) + " has no attribute '" + std::string(token.text) + "'",
              reader.at(token), std::move(help));
}

}  // namespace

Result<Shape> read_shape(TextReader& reader) {
  std::vector<Dim> dims;
  CAPRA_TRY(reader.expect('[', "'[' and dims"));
  while (!reader.peek().is(']')) {
    if (!dims.empty()) CAPRA_TRY(reader.expect(',', "',' or ']'"));
    const Token token = reader.peek();
    if (dims.size() == kMaxTextRank) {
      return reader.needed(token, "']': a type has at most " + number_text(kMaxTextRank) + " dims");
    }
    const std::optional<int64_t> size = parse_i64(token.text);
    if (token.kind == TokenKind::Identifier) {
      dims.emplace_back(std::string(token.text));
    } else if (size.has_value() && *size >= 0) {
      dims.emplace_back(*size);
    } else {
      return reader.needed(token, "a dim: a number from 0 or a name");
    }
    reader.next();
  }
  reader.next();
  return Shape(std::move(dims));
}

Result<TensorType> read_type(TextReader& reader) {
  const Token token = reader.peek();
  const std::optional<DType> dtype = parse_dtype(token.text);
  if (!dtype.has_value()) {
    std::vector<std::string_view> names;
    for (const DType known : all_dtypes()) names.push_back(dtype_name(known));
    return reader.needed(token, "a type such as f32[2, 3]", did_you_mean(token.text, names));
  }
  reader.next();
  if (!reader.peek().is('[')) return TensorType{*dtype, Shape()};
  CAPRA_ASSIGN(Shape shape, read_shape(reader));
  TensorType type{*dtype, std::move(shape)};
  if (!fits_memory(type)) {
    return fail("shape-too-large", type.text() + " has more bytes than 63 bits can count",
                reader.at(token));
  }
  return type;
}

Result<Array> read_array(TextReader& reader, SplatBudget& splats) {
  const Token start = reader.peek();
  CAPRA_ASSIGN(const TensorType type, read_type(reader));
  if (!type.shape.is_static()) {
    return fail("text-syntax", "found " + type.text() + ", needed a type whose dims are numbers",
                reader.at(start));
  }
  const int64_t elements = *type.shape.elements();
  if (reader.take("splat")) {
    const int64_t bytes = elements * static_cast<int64_t>(dtype_bytes(type.dtype));
    if (bytes > splats.bytes) {
      return fail("shape-too-large", type.text() + " is larger than splat may make in one text",
                  reader.at(start));
    }
    splats.bytes -= bytes;
    Array array = Array::zeros(type.dtype, type.shape.sizes());
    if (elements == 0) {  // the value is read all the same
      Array one = Array::zeros(type.dtype, {});
      CAPRA_TRY(read_element(reader, one, 0));
      return array;
    }
    CAPRA_TRY(read_element(reader, array, 0));
    // Doubles what is filled.
    std::byte* to = array.mutable_data();
    for (size_t filled = dtype_bytes(type.dtype); filled < array.byte_size();) {
      const size_t more = std::min(filled, array.byte_size() - filled);
      std::copy_n(to, more, to + filled);
      filled += more;
    }
    return array;
  }
  // `[]` stands for any array without elements; `[[], []]` may be written for f32[2, 0].
  if (elements == 0 && reader.peek().is('[') && reader.peek_second().is(']')) {
    reader.next();
    reader.next();
    return Array::zeros(type.dtype, type.shape.sizes());
  }
  // An element takes a byte at least: this bounds the memory by the size of the text.
  if (static_cast<uint64_t>(elements) > reader.bytes_left()) {
    return reader.needed(reader.peek(), number_text(elements) + " elements for " + type.text());
  }
  Array array = Array::zeros(type.dtype, type.shape.sizes());
  int64_t index = 0;
  CAPRA_TRY(read_elements(reader, array, 0, index));
  return array;
}

Result<Array> read_scalar(TextReader& reader, DType dtype) {
  Array array = Array::zeros(dtype, {});
  CAPRA_TRY(read_element(reader, array, 0));
  return array;
}

Result<Attrs> read_attrs(TextReader& reader, const AttrSchema& schema, std::string_view owner,
                         SplatBudget& splats) {
  Attrs attrs = schema.defaults == nullptr ? Attrs() : schema.defaults();
  std::vector<bool> given(attrs.size());
  while (!reader.peek().is('}') && reader.peek().kind != TokenKind::End) {
    if (std::ranges::find(given, true) != given.end()) {
      CAPRA_TRY(reader.expect(',', "',' or the end of the attributes"));
    }
    CAPRA_ASSIGN(const Token name,
                 reader.expect(TokenKind::Identifier, "the name of an attribute"));
    const int index = attr_index(schema, name.text);
    if (index < 0) return unknown_attr(reader, name, schema, owner);
    const auto slot = static_cast<size_t>(index);
    if (given[slot]) return reader.needed(name, "each attribute once");
    given[slot] = true;
    CAPRA_TRY(reader.expect('=', "'=' after the name of an attribute"));
    CAPRA_ASSIGN(attrs[slot], read_attr(reader, schema.fields[slot], owner, splats));
  }
  for (size_t i = 0; i < attrs.size(); ++i) {
    const Array* array = std::get_if<Array>(&attrs[i]);
    if (array != nullptr && !*array) {
      return fail(
          "attribute-invalid",
          std::string(owner) + " needs the attribute '" + std::string(schema.fields[i].name) + "'",
          reader.at(reader.peek()));
    }
  }
  return attrs;
}

Result<std::vector<Note>> read_notes(TextReader& reader) {
  std::vector<Note> notes;
  while (!reader.peek().is('}')) {
    if (!notes.empty()) CAPRA_TRY(reader.expect(',', "',' or '}' after a note"));
    Note note;
    const Token name = reader.peek();
    if (name.kind == TokenKind::String) {
      CAPRA_ASSIGN(note.name, unquote(reader, name));
    } else if (name.kind == TokenKind::Identifier) {
      note.name = name.text;
    } else {
      return reader.needed(name, "the name of a note");
    }
    reader.next();
    CAPRA_TRY(reader.expect('=', "'=' after the name of a note"));
    const Token value = reader.peek();
    if (value.kind == TokenKind::String) {
      CAPRA_ASSIGN(note.value, unquote(reader, value));
    } else if (const std::optional<int64_t> whole = parse_i64(value.text); whole.has_value()) {
      note.value = *whole;
    } else if (const std::optional<double> number = f64_of(value.text);
               is_element(value) && number.has_value()) {
      note.value = *number;
    } else {
      return reader.needed(value, "a string or a number");
    }
    reader.next();
    notes.push_back(std::move(note));
  }
  return notes;
}

Result<Array> parse_array(std::string_view text) {
  TextReader reader(text, "text");
  SplatBudget splats;
  CAPRA_ASSIGN(Array array, read_array(reader, splats));
  CAPRA_TRY(reader.expect_end());
  return array;
}

Result<Attrs> parse_attrs(std::string_view text, const AttrSchema& schema) {
  TextReader reader(text, "text");
  SplatBudget splats;
  CAPRA_ASSIGN(Attrs attrs, read_attrs(reader, schema, "the op", splats));
  CAPRA_TRY(reader.expect_end());
  return attrs;
}

}  // namespace capra
