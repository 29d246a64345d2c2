// Cutting text into tokens.
#include "capra/targets/stablehlo/read/lexer.h"

#include <charconv>

namespace capra::stablehlo {
namespace {

// Of a word, beside what words have everywhere.
constexpr std::string_view kMore = "$";

std::string shown(const Token& token) {
  if (token.kind == TokenKind::End) return "the end of the text";
  if (token.kind == TokenKind::Bad) {
    if (token.text == "\"" || token.text == "@") return "a name or string without an end";
    if (token.text.size() > 1) return "a type without an end";
  }
  return shown_text(token.text);
}

}  // namespace

Lexer::Lexer(std::string_view text, std::string_view source)
    : source_(source), cursor_(text, "//") {
  first_ = read();
}

Token Lexer::read() {
  const std::string_view rest = cursor_.skip_blanks();
  const auto token = [&](TokenKind kind, size_t size) { return Token{cursor_.cut(size), kind}; };
  if (rest.empty()) return token(TokenKind::End, 0);
  const char c = rest.front();
  if (rest.starts_with("tensor<")) {
    const size_t size = closed_size(rest, 0, '>');
    return size > 0 ? token(TokenKind::Type, size) : token(TokenKind::Bad, 7);
  }
  if (is_letter(c)) return token(TokenKind::Word, word_size(rest, 0, kMore));
  if (is_digit(c) || (c == '-' && rest.size() > 1 && is_digit(rest[1]))) {
    return token(TokenKind::Number, number_size(rest, kMore));
  }
  if (c == '%' || c == '@') {
    const TokenKind kind = c == '%' ? TokenKind::Value : TokenKind::Symbol;
    const bool is_quoted = c == '@' && rest.size() > 1 && rest[1] == '"';
    const size_t size = is_quoted ? closed_size(rest, 2, '"') : word_size(rest, 1, kMore);
    return size > 1 ? token(kind, size) : token(TokenKind::Bad, 1);
  }
  if (c == '"') {
    const size_t size = closed_size(rest, 1, '"');
    return size > 0 ? token(TokenKind::String, size) : token(TokenKind::Bad, 1);
  }
  if (rest.starts_with("->") || rest.starts_with("::")) return token(TokenKind::Mark, 2);
  constexpr std::string_view kMarks = "(){}[]<>,:=#";
  return token(kMarks.find(c) == std::string_view::npos ? TokenKind::Bad : TokenKind::Mark, 1);
}

Token Lexer::next() {
  const Token token = first_;
  first_ = read();
  return token;
}

bool Lexer::take(std::string_view word) {
  if (!first_.is(word)) return false;
  next();
  return true;
}

Status Lexer::expect(std::string_view word) {
  if (take(word)) return {};
  return needed(first_, "'" + std::string(word) + "'");
}

Status Lexer::expect_all(std::string_view words) {
  while (!words.empty()) {
    const size_t blank = words.find(' ');
    CAPRA_TRY(expect(words.substr(0, blank)));
    words = blank == std::string_view::npos ? std::string_view() : words.substr(blank + 1);
  }
  return {};
}

Result<Token> Lexer::expect(TokenKind kind, std::string_view what) {
  if (first_.kind != kind) return needed(first_, what);
  return next();
}

std::string Lexer::at(const Token& token) const { return place_text(source_, token); }

Failure Lexer::needed(const Token& token, std::string_view what) const {
  return fail("text-syntax", "found " + shown(token) + ", needed " + std::string(what), at(token));
}

Result<std::string> unquote(const Lexer& lexer, const Token& token) {
  std::string_view inside = token.text;
  if (token.kind == TokenKind::Symbol) inside.remove_prefix(1);
  if (!inside.starts_with('"')) return std::string(inside);
  inside = inside.substr(1, inside.size() - 2);
  std::string bytes;
  bytes.reserve(inside.size());
  for (size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != '\\') {
      bytes += inside[i];
      continue;
    }
    const std::string_view escape = inside.substr(i + 1, 2);
    unsigned int byte = 0;
    if (escape.starts_with('"') || escape.starts_with('\\')) {
      bytes += escape[0];
      i += 1;
    } else if (escape.size() == 2 &&
               std::from_chars(escape.begin(), escape.end(), byte, 16).ptr == escape.end()) {
      bytes += static_cast<char>(byte);
      i += 2;
    } else {
      return lexer.needed(token, "one of the escapes \\\" \\\\ \\HH");
    }
  }
  return bytes;
}

}  // namespace capra::stablehlo
