// Byte by byte.
#include "capra/io/xml_text.h"

#include "capra/base/text/utf8.h"

namespace capra {

std::string printable_text(std::string_view text) {
  constexpr unsigned char kDelete = 0x7F;
  std::string out = repair_utf8(text).text;
  for (char& c : out) {
    const auto code = static_cast<unsigned char>(c);
    if (code < ' ' || code == kDelete) c = ' ';
  }
  for (const std::string_view absent : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {  // U+FFFE, U+FFFF
    for (size_t at = out.find(absent); at != std::string::npos; at = out.find(absent, at)) {
      out.replace(at, absent.size(), 1, ' ');
    }
  }
  return out;
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : printable_text(text)) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace capra
