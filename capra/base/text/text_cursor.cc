// Bytes are counted one by one, so that places are those an editor shows.
#include "capra/base/text/text_cursor.h"

#include "capra/base/number_text.h"

namespace capra {

std::string_view TextCursor::skip_blanks() {
  bool in_comment = false;
  while (!rest_.empty()) {
    const char c = rest_.front();
    if (c == '\n') {
      in_comment = false;
      ++line_;
      column_ = 0;
    } else if (rest_.starts_with(comment_)) {
      in_comment = true;
    } else if (!in_comment && c != ' ' && c != '\t' && c != '\r') {
      break;
    }
    rest_.remove_prefix(1);
    ++column_;
  }
  return rest_;
}

TextPiece TextCursor::cut(size_t size) {
  const TextPiece piece{rest_.substr(0, size), line_, column_};
  rest_.remove_prefix(size);
  column_ += static_cast<int64_t>(size);
  return piece;
}

bool is_word_byte(char c, std::string_view more) {
  return is_letter(c) || is_digit(c) || c == '.' || more.find(c) != std::string_view::npos;
}

size_t word_size(std::string_view text, size_t from, std::string_view more) {
  while (from < text.size() && is_word_byte(text[from], more)) ++from;
  return from;
}

size_t number_size(std::string_view text, std::string_view more) {
  const bool hex = text.starts_with("0x");
  size_t size = 1;
  while (size < text.size()) {
    const char before = text[size - 1];
    const bool sign =
        (text[size] == '+' || text[size] == '-') && !hex && (before == 'e' || before == 'E');
    if (!is_word_byte(text[size], more) && !sign) break;
    ++size;
  }
  return size;
}

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

std::string shown_text(std::string_view text) {
  constexpr size_t kShown = 40;
  const auto byte = static_cast<unsigned char>(text.front());
  if (text.size() == 1 && (byte <= 0x20 || byte >= 0x7f)) {
    return "byte " + number_text(byte);
  }
  return "'" + std::string(text.substr(0, kShown)) + (text.size() > kShown ? "...'" : "'");
}

std::string place_text(std::string_view source, const TextPiece& piece) {
  return std::string(source) + ":" + number_text(piece.line) + ":" + number_text(piece.column);
}

}  // namespace capra
