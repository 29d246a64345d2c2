// The tokens of graph text.
#include "capra/ir/text/reader.h"

#include <charconv>

#include "capra/base/number_text.h"

namespace capra {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

size_t word_size(std::string_view text, size_t from) {
  while (from < text.size() && is_word(text[from])) ++from;
  return from;
}

// Digits, letters and dots, and a sign after an exponent's e: what is malformed inside is found
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

// 0 when the string has no end on its line.
size_t string_size(std::string_view text) {
  for (size_t i = 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
  }
  return 0;
}

}  // namespace

TextReader::TextReader(std::string_view text, std::string_view source)
    : text_(text), source_(source) {
  first_ = read();
  second_ = read();
}

void TextReader::skip_blanks() {
  bool comment = false;
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      comment = false;
      ++line_;
      column_ = 0;
    } else if (c == '#') {
      comment = true;
    } else if (!comment && c != ' ' && c != '\t' && c != '\r') {
      return;
    }
    ++position_;
    ++column_;
  }
}

Token TextReader::cut(TokenKind kind, size_t size) {
  const Token token{kind, text_.substr(position_, size), line_, column_};
  position_ += size;
  column_ += static_cast<int64_t>(size);
  return token;
}

Token TextReader::read() {
  skip_blanks();
  const std::string_view rest = text_.substr(position_);
  if (rest.empty()) return cut(TokenKind::End, 0);
  const char c = rest.front();
  if (is_letter(c)) return cut(TokenKind::Identifier, word_size(rest, 0));
  if (is_digit(c) || (c == '-' && rest.size() > 1 && is_word(rest[1]))) {
    return cut(TokenKind::Number, number_size(rest));
  }
  if (c == '%') {
    const size_t size = word_size(rest, 1);
    return cut(size > 1 ? TokenKind::Value : TokenKind::Bad, size);
  }
  if (c == '"') {
    const size_t size = string_size(rest);
    return size > 0 ? cut(TokenKind::String, size) : cut(TokenKind::Bad, 1);
  }
  constexpr std::string_view kMarks = "={}[],:@!";
  return cut(kMarks.find(c) == std::string_view::npos ? TokenKind::Bad : TokenKind::Mark, 1);
}

Token TextReader::next() {
  const Token token = first_;
  first_ = second_;
  second_ = read();
  return token;
}

bool TextReader::take(char mark) {
  if (!first_.is(mark)) return false;
  next();
  return true;
}

bool TextReader::take(std::string_view word) {
  if (!first_.is(word)) return false;
  next();
  return true;
}

Status TextReader::expect(char mark, std::string_view what) {
  if (take(mark)) return {};
  return needed(first_, what);
}

Status TextReader::expect(std::string_view word, std::string_view what) {
  if (take(word)) return {};
  return needed(first_, what);
}

Result<Token> TextReader::expect(TokenKind kind, std::string_view what) {
  if (first_.kind != kind) return needed(first_, what);
  return next();
}

Status TextReader::expect_end() {
  if (first_.kind == TokenKind::End) return {};
  return needed(first_, "the end of the text");
}

size_t TextReader::bytes_left() const {
  if (first_.kind == TokenKind::End) return 0;
  return static_cast<size_t>(text_.data() + text_.size() - first_.text.data());
}

std::string TextReader::at(const Token& token) const {
  return source_ + ":" + number_text(token.line) + ":" + number_text(token.column);
}

Failure TextReader::needed(const Token& token, std::string_view what, std::string help) const {
  constexpr size_t kShown = 40;
  std::string found;
  if (token.kind == TokenKind::End) {
    found = "the end of the text";
  } else if (token.kind == TokenKind::Bad && token.text == "\"") {
    found = "a string without an end on its line";
  } else if (token.kind == TokenKind::Bad) {
    const auto byte = static_cast<unsigned char>(token.text.front());
    found = byte > 0x20 && byte < 0x7f ? "'" + std::string(token.text) + "'"
                                       : "byte " + number_text(static_cast<int64_t>(byte));
  } else {
    found = "'" + std::string(token.text.substr(0, kShown)) +
            (token.text.size() > kShown ? "...'" : "'");
  }
  return fail("text-syntax", "found " + found + ", needed " + std::string(what), at(token),
              std::move(help));
}

Result<std::string> unquote(const TextReader& reader, const Token& token) {
  const std::string_view inside = token.text.substr(1, token.text.size() - 2);
  std::string bytes;
  bytes.reserve(inside.size());
  for (size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != '\\') {
      bytes += inside[i];
      continue;
    }
    const char escape = inside[++i];  // a lone backslash cannot be last: it would escape the quote
    unsigned int byte = 0;
    if (escape == '"' || escape == '\\') {
      bytes += escape;
    } else if (escape == 'n') {
      bytes += '\n';
    } else if (escape == 't') {
      bytes += '\t';
    } else if (escape == 'x' && i + 2 < inside.size() &&
               std::from_chars(&inside[i + 1], &inside[i + 1] + 2, byte, 16).ptr ==
                   &inside[i + 1] + 2) {
      bytes += static_cast<char>(byte);
      i += 2;
    } else {
      return reader.needed(token, "one of the escapes \\\" \\\\ \\n \\t \\xHH");
    }
  }
  return bytes;
}

}  // namespace capra
