// Well-formed UTF-8 by table 3-7 of the Unicode standard.
#include "capra/base/text/utf8.h"

#include <cstdint>
#include <cstring>

namespace capra {
namespace {

struct Sequence {
  size_t size;  // bytes that belong together, at least 1
  bool well_formed;
};

// The sequence at the start of `text`, which is not empty.
Sequence sequence_at(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {1, true};
  size_t size = 0;
  uint8_t low = 0x80;
  uint8_t high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    size = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    size = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    size = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  } else {
    return {1, false};
  }
  for (size_t i = 1; i < size; ++i) {
    if (i >= text.size() || byte(i) < low || byte(i) > high) return {i, false};
    low = 0x80;
    high = 0xbf;
  }
  return {size, true};
}

size_t ascii_prefix(std::string_view text) {
  size_t i = 0;
  for (uint64_t word = 0; i + sizeof word <= text.size(); i += sizeof word) {
    std::memcpy(&word, text.data() + i, sizeof word);
    if ((word & 0x8080808080808080ull) != 0) break;
  }
  while (i < text.size() && static_cast<uint8_t>(text[i]) < 0x80) ++i;
  return i;
}

}  // namespace

std::optional<size_t> first_invalid_utf8(std::string_view text) {
  size_t at = ascii_prefix(text);
  while (at < text.size()) {
    const Sequence sequence = sequence_at(text.substr(at));
    if (!sequence.well_formed) return at;
    at += sequence.size;
    at += ascii_prefix(text.substr(at));
  }
  return std::nullopt;
}

RepairedUtf8 repair_utf8(std::string_view text) {
  RepairedUtf8 repaired;
  while (const auto bad = first_invalid_utf8(text)) {
    repaired.text.append(text.substr(0, *bad));
    repaired.text.append("\xef\xbf\xbd");
    ++repaired.replaced;
    text.remove_prefix(*bad);
    text.remove_prefix(sequence_at(text).size);
  }
  repaired.text.append(text);
  return repaired;
}

Status correct_utf8(std::string_view& text, bool strict, std::string& repaired, int64_t& replaced) {
  const auto bad = first_invalid_utf8(text);
  if (!bad) return {};
  if (strict) {
    return fail("utf8-invalid", "byte " + std::to_string(*bad) + " of the text is not UTF-8", {},
                "correct the text, or leave out --strict to have it replaced");
  }
  RepairedUtf8 repair = repair_utf8(text);
  replaced += static_cast<int64_t>(repair.replaced);
  repaired = std::move(repair.text);
  text = repaired;
  return {};
}

}  // namespace capra
