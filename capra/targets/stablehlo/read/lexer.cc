// Cutting text into tokens.
#include "capra/targets/stablehlo/read/lexer.h"

#include <charconv>

#include "capra/base/number_text.h"

namespace capra::stablehlo {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '$'; }

size_t word_size(std::string_view text, size_t from) {
  while (from < text.size() && is_word(text[from])) ++from;
  return from;
}

// Digits, letters and points, and a sign after an exponent's e: what is malformed inside is found
// when the number is read.
size_t number_size(std::string_view text) {
  const bool hex = text.starts_with("0x");
  size_t size = 1;
  while (size < text.size()) {
    const char before = text[size - 1];
    const bool sign =
        (text[size] == '+' || text[size] == '-') && !hex && (before == 'e' || before == 'E');
    if (!is_word(text[size]) && !sign) break;
    ++size;
  }
  return size;
}

// From one place to the next such byte on the same line, both counted; 0 when there is none.
size_t closed_size(std::string_view text, size_t from, char close) {
  for (size_t i = from; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == close) {
      return i + 1;
    }
  }
  return 0;
}

std::string shown(const Token& token) {
  constexpr size_t kShown = 40;
  if (token.kind == TokenKind::End) return "the end of the text";
  if (token.kind == TokenKind::Bad) {
    if (token.text == "\"" || token.text == "@") return "a name or string without an end";
    if (token.text.size() > 1) return "a type without an end";
    const auto byte = static_cast<unsigned char>(token.text.front());
    if (byte <= 0x20 || byte >= 0x7f) return "byte " + number_text(static_cast<int64_t>(byte));
  }
  const bool whole = token.text.size() <= kShown;
  return "'" + std::string(token.text.substr(0, kShown)) + (whole ? "'" : "...'");
}

}  // namespace

Lexer::Lexer(std::string_view text, std::string_view source) : text_(text), source_(source) {
  first_ = read();
}

void Lexer::skip_blanks() {
  bool comment = false;
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      comment = false;
      ++line_;
      column_ = 0;
    } else if (text_.substr(position_).starts_with("//")) {
      comment = true;
    } else if (!comment && c != ' ' && c != '\t' && c != '\r') {
      return;
    }
    ++position_;
    ++column_;
  }
}

Token Lexer::cut(TokenKind kind, size_t size) {
  const Token token{kind, text_.substr(position_, size), line_, column_};
  position_ += size;
  column_ += static_cast<int64_t>(size);
  return token;
}

Token Lexer::read() {
  skip_blanks();
  const std::string_view rest = text_.substr(position_);
  if (rest.empty()) return cut(TokenKind::End, 0);
  const char c = rest.front();
  if (rest.starts_with("tensor<")) {
    const size_t size = closed_size(rest, 0, '>');
    return size > 0 ? cut(TokenKind::Type, size) : cut(TokenKind::Bad, 7);
  }
  if (is_letter(c)) return cut(TokenKind::Word, word_size(rest, 0));
  if (is_digit(c) || (c == '-' && rest.size() > 1 && is_digit(rest[1]))) {
    return cut(TokenKind::Number, number_size(rest));
  }
  if (c == '%' || c == '@') {
    const TokenKind kind = c == '%' ? TokenKind::Value : TokenKind::Symbol;
    const bool is_quoted = c == '@' && rest.size() > 1 && rest[1] == '"';
    const size_t size = is_quoted ? closed_size(rest, 2, '"') : word_size(rest, 1);
    return size > 1 ? cut(kind, size) : cut(TokenKind::Bad, 1);
  }
  if (c == '"') {
    const size_t size = closed_size(rest, 1, '"');
    return size > 0 ? cut(TokenKind::String, size) : cut(TokenKind::Bad, 1);
  }
  if (rest.starts_with("->") || rest.starts_with("::")) return cut(TokenKind::Mark, 2);
  constexpr std::string_view kMarks = "(){}[]<>,:=#";
  return cut(kMarks.find(c) == std::string_view::npos ? TokenKind::Bad : TokenKind::Mark, 1);
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

std::string Lexer::at(const Token& token) const {
  return source_ + ":" + number_text(token.line) + ":" + number_text(token.column);
}

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
               std::from_chars(escape.data(), escape.data() + 2, byte, 16).ptr ==
                   escape.data() + 2) {
      bytes += static_cast<char>(byte);
      i += 2;
    } else {
      return lexer.needed(token, "one of the escapes \\\" \\\\ \\HH");
    }
  }
  return bytes;
}

}  // namespace capra::stablehlo
