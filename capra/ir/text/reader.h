// Tokens of graph text, and failures that say where.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "capra/base/result.h"
#include "capra/base/text/text_cursor.h"

namespace capra {

enum class TokenKind : uint8_t {
  Identifier,  ///< `gelu`, `f32`, `true`, `nan`
  Value,       ///< `%x`, `%12`
  Number,      ///< `-1.5e-3`, `0x7fc00001`, `-inf`
  String,      ///< with its quotes
  Mark,        ///< one of = { } [ ] , : @ !
  End,
  Bad,  ///< a byte that starts nothing, or a string without an end
};

struct Token : TextPiece {
  TokenKind kind = TokenKind::End;

  bool is(char mark) const { return kind == TokenKind::Mark && text.front() == mark; }
  bool is(std::string_view word) const { return kind == TokenKind::Identifier && text == word; }
};

/// Reads tokens one by one, two ahead. Blanks, line ends and comments (`#` to the end of the line)
/// separate tokens and mean nothing else.
class TextReader {
 public:
  TextReader(std::string_view text, std::string_view source);

  const Token& peek() const { return first_; }
  const Token& peek_second() const { return second_; }
  Token next();

  /// Takes the next token if it is this mark or word.
  bool take(char mark);
  bool take(std::string_view word);
  /// Takes the next token or fails with `text-syntax`; `what` completes "needed ...".
  Status expect(char mark, std::string_view what);
  Status expect(std::string_view word, std::string_view what);
  Result<Token> expect(TokenKind kind, std::string_view what);
  Status expect_end();

  /// Bytes from the next token to the end of the text.
  size_t bytes_left() const;

  std::string at(const Token& token) const;  ///< `source:line:column`
  /// `text-syntax` at the token: what was found, what was needed.
  Failure needed(const Token& token, std::string_view what, std::string help = {}) const;

 private:
  Token read();

  std::string_view text_;
  std::string source_;
  TextCursor cursor_;
  Token first_;
  Token second_;
};

/// The bytes a string token stands for; fails with `text-syntax` on an unknown escape.
Result<std::string> unquote(const TextReader& reader, const Token& token);

}  // namespace capra
