// The numbers of a model: parameter path to data.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "capra/ir/array.h"

namespace capra {

/// Data by parameter path, as in `parameter {path = "..."}` nodes.
using Parameters = std::map<std::string, Array, std::less<>>;

}  // namespace capra
