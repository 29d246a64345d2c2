// How the IREE compiler is told to compile a program that stands beside its parameters.
#pragma once

#include <string_view>

namespace capra::stablehlo {

/// Options of iree-compile for this machine's processor, one a line:
/// `iree-compile $(cat iree.flags) model.mlir -o model.vmfb`.
std::string_view iree_compile_flags();

}  // namespace capra::stablehlo
