// The version of the library that is running, as opposed to the headers it was compiled against.
#pragma once

#include <string_view>

namespace capra {

/// "major.minor.patch", as in CMakeLists.txt.
std::string_view version();

/// The compiler that built the library, such as "GNU 12.2.0".
std::string_view compiler_id();

}  // namespace capra
