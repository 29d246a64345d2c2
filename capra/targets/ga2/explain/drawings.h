// Pictures of a compiled graph as SVG, readable on light and on dark ground.
#pragma once

#include <string>

#include "capra/targets/ga2/emit/program.h"

namespace capra::ga2 {

/// The scratchpad over time: a box a value, address against instruction.
std::string memory_map_svg(const Program& program);

/// The result of each product with its tiles, each with the number of its instruction.
std::string tiles_svg(const Program& program);

/// The range of each tensor against what its int8 levels can hold.
std::string scales_svg(const Program& program);

}  // namespace capra::ga2
