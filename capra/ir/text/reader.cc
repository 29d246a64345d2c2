// The tokens of graph text.
#include "capra/ir/text/reader.h"

#include <charconv>
#include <utility>

#include "capra/base/text/utf8.h"

namespace capra {

TextReader::TextReader(std::string_view text, std::string_view source)
    : text_(text), source_(source), cursor_(text, "#") {
  first_ = read();
  second_ = read();
}

Token TextReader::read() {
  const std::string_view rest = cursor_.skip_blanks();
  const auto token = [&](TokenKind kind, size_t size) { return Token{cursor_.cut(size), kind}; };
  if (rest.empty()) return token(TokenKind::End, 0);
  const char c = rest.front();
  if (is_letter(c)) return token(TokenKind::Identifier, word_size(rest, 0));
  if (is_digit(c) || (c == '-' && rest.size() > 1 && is_word_byte(rest[1]))) {
    return token(TokenKind::Number, number_size(rest));
  }
  if (c == '%') {
    const size_t size = word_size(rest, 1);
    return token(size > 1 ? TokenKind::Value : TokenKind::Bad, size);
  }
  if (c == '"') {
    const size_t size = closed_size(rest, 1, '"');
    return size > 0 ? token(TokenKind::String, size) : token(TokenKind::Bad, 1);
  }
  constexpr std::string_view kMarks = "={}[],:@!";
  return token(kMarks.find(c) == std::string_view::npos ? TokenKind::Bad : TokenKind::Mark, 1);
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

std::string TextReader::at(const Token& token) const { return place_text(source_, token); }

Failure TextReader::needed(const Token& token, std::string_view what, std::string help) const {
  std::string found;
  if (token.kind == TokenKind::End) {
    found = "the end of the text";
  } else if (token.kind == TokenKind::Bad && token.text == "\"") {
    found = "a string without an end on its line";
  } else {
    found = shown_text(token.text);
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
  // Files of other forms hold these bytes as text.
  if (first_invalid_utf8(bytes)) {
    return fail("text-syntax", "found a string that is not UTF-8, needed one that is",
                reader.at(token), "correct its bytes, or the bytes that it has by \\xHH");
  }
  return bytes;
}

}  // namespace capra
