// The script that embeds texts with a program that IREE runs: embed.py of this folder, as it
// stands.
#pragma once

#include <string_view>

namespace capra::stablehlo {

extern const std::string_view kEmbedScript;

}  // namespace capra::stablehlo
