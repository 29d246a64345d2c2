// Text of the parts of a node: names, strings, numbers. Shared by the printer and the parser.
#pragma once

#include <string>
#include <string_view>

#include "capra/ir/array.h"
#include "capra/ir/tape.h"

namespace capra {

/// Arrays of more equal elements than this print as `splat`.
inline constexpr int64_t kMaxListedEqual = 16;
/// The most dims that text may give a type.
inline constexpr int kMaxTextRank = 32;
/// The most levels of groups within groups in text.
inline constexpr int kMaxTextDepth = 8;

/// A letter or `_`, then letters, digits, `_` and `.`: what may stand in text without quotes.
bool is_identifier(std::string_view text);

/// `text` in double quotes; quotes, backslashes and control bytes escaped.
std::string quoted(std::string_view text);

/// `text` where it is an identifier, else quoted.
std::string identifier_or_quoted(std::string_view text);

/// Element `index` as text that gives the same bits: shortest round trip in its own dtype, `nan`
/// for the canonical NaN, hex bits such as `0x7fc00001` for any other.
std::string element_text(const Array& array, int64_t index);

/// The same for an f64 that stands outside an array.
std::string f64_text(double value);

/// Stores the number `text` (as element_text prints it) as element `index`. False when it is no
/// number, not exact for an integer dtype, or out of range.
bool parse_element(std::string_view text, Array& array, int64_t index);

/// A note without its braces: `maxAbsError = 0.00048`.
std::string note_text(const Note& note);

}  // namespace capra
