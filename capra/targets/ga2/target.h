// The target that compiles graphs of matrices for the GA-2 chip and runs them on its simulator.
#pragma once

#include <string_view>

#include "capra/runtime/target.h"

namespace capra::ga2 {

extern const Target kTarget;

/// The dialect of the module that program passes are given: the instructions of a program.
inline constexpr std::string_view kDialect = "ga2";

}  // namespace capra::ga2
