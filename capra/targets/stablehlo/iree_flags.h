// How the IREE compiler is told to compile a program that stands beside its parameters.
#pragma once

#include <string>
#include <vector>

namespace capra::stablehlo {

/// Options of iree-compile for this machine's processor. They stand in a file, one a line:
/// `iree-compile $(cat iree.flags) model.mlir -o model.vmfb`.
std::vector<std::string> iree_compile_flags();

}  // namespace capra::stablehlo
