// Text that is read piece by piece: where a piece stands, and where it ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace capra {

/// Some bytes of a text.
struct TextPiece {
  std::string_view text = {};
  int64_t line = 1;
  int64_t column = 1;  ///< of the first byte, from 1, in bytes
};

/// A place in a text, which goes forward.
class TextCursor {
 public:
  /// `comment` begins what is passed over to the end of its line.
  TextCursor(std::string_view text, std::string_view comment) : rest_(text), comment_(comment) {}

  /// Passes blanks, line ends and comments over; what is left.
  std::string_view skip_blanks();
  /// Takes the first `size` bytes of what is left; there is no line end among them.
  TextPiece cut(size_t size);

 private:
  std::string_view rest_;
  std::string_view comment_;
  int64_t line_ = 1;
  int64_t column_ = 1;
};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// ASCII letters and `_`.
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
/// Letters, digits, points and the bytes of `more`.
bool is_word_byte(char c, std::string_view more = {});

/// The bytes of a text up to the end of the word that goes on at `from`.
size_t word_size(std::string_view text, size_t from, std::string_view more = {});
/// The bytes of the number that a text begins with: digits, letters, points and the bytes of
/// `more`, and a sign after an exponent's e. What is malformed inside shows when it is read.
size_t number_size(std::string_view text, std::string_view more = {});
/// The bytes of a text up to the next byte `close` at `from` or behind it on the same line, that
/// byte included; a backslash takes the meaning of the byte behind it. 0: there is none.
size_t closed_size(std::string_view text, size_t from, char close);

/// How a message shows what was found: in quotes, not all of it where it is long; a lone byte that
/// does not print by its number.
std::string shown_text(std::string_view text);
/// `source:line:column`
std::string place_text(std::string_view source, const TextPiece& piece);

}  // namespace capra
