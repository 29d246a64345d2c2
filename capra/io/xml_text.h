// Text inside documents, such as SVG.
#pragma once

#include <string>
#include <string_view>

namespace capra {

/// In UTF-8, control characters and the two that XML does not have (U+FFFE, U+FFFF) as spaces: what
/// every document can hold.
std::string printable_text(std::string_view text);

/// The same with `&`, `<` and `>` as entities.
std::string xml_text(std::string_view text);

}  // namespace capra
