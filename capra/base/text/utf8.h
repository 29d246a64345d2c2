// UTF-8 that may be broken: where it breaks, and a repaired copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "capra/base/result.h"

namespace capra {

/// Byte offset of the first ill-formed sequence (overlong forms, surrogates and values beyond
/// U+10FFFF are ill-formed), or nothing.
std::optional<size_t> first_invalid_utf8(std::string_view text);

/// Text with every ill-formed sequence replaced by U+FFFD, one for each longest prefix of a
/// well-formed sequence, as the Unicode standard recommends (and Python's "replace" does).
struct RepairedUtf8 {
  std::string text;
  size_t replaced = 0;  ///< how many U+FFFD were put in
};
RepairedUtf8 repair_utf8(std::string_view text);

/// Points `text` at a repaired copy, which `repaired` keeps, if it is ill-formed, and adds to
/// `replaced`; with `strict` fails with `utf8-invalid` instead.
Status correct_utf8(std::string_view& text, bool strict, std::string& repaired, int64_t& replaced);

}  // namespace capra
