// Tokens of a program's text, and failures that say where.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "capra/base/result.h"
#include "capra/base/text/text_cursor.h"

namespace capra::stablehlo {

enum class TokenKind : uint8_t {
  Word,    ///< `stablehlo.add`, `true`, `x`
  Value,   ///< `%x`, `%12`
  Symbol,  ///< `@main`, `@"a b"`
  Number,  ///< `-1.5e-3`, `0x7FC00001`
  String,  ///< with its quotes
  Type,    ///< `tensor<2x?xf32>`
  Mark,    ///< one of ( ) { } [ ] < > , : = # or -> or ::
  End,
  Bad,  ///< a byte that starts nothing, or a string or type without an end
};

struct Token : TextPiece {
  TokenKind kind = TokenKind::End;

  /// Whether it is this word or mark.
  bool is(std::string_view word) const {
    return (kind == TokenKind::Word || kind == TokenKind::Mark) && text == word;
  }
};

/// Reads tokens one by one, one ahead. Blanks, line ends and comments (`//` to the end of the line)
/// separate tokens and mean nothing else.
class Lexer {
 public:
  Lexer(std::string_view text, std::string_view source);

  const Token& peek() const { return first_; }
  Token next();

  /// Takes the next token if it is this word or mark.
  bool take(std::string_view word);
  /// Takes the next token or fails with `text-syntax`.
  Status expect(std::string_view word);
  /// The same for several in a row, separated by blanks.
  Status expect_all(std::string_view words);
  /// `what` completes "needed ...".
  Result<Token> expect(TokenKind kind, std::string_view what);

  std::string at(const Token& token) const;  ///< `source:line:column`
  /// `text-syntax` at the token: what was found, what was needed.
  Failure needed(const Token& token, std::string_view what) const;

 private:
  Token read();

  std::string source_;
  TextCursor cursor_;
  Token first_;
};

/// The bytes a string token stands for, or a symbol token without its `@`; fails with `text-syntax`
/// on an unknown escape.
Result<std::string> unquote(const Lexer& lexer, const Token& token);

}  // namespace capra::stablehlo
