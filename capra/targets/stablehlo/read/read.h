// From a module's text back to the module: the inverse of print_module, for the operations that are
// emitted.
#pragma once

#include <string_view>

#include "capra/base/result.h"
#include "capra/targets/stablehlo/module.h"

namespace capra::stablehlo {

/// Reads what print_module writes, in any layout and with any names of values; printing the result
/// gives the canonical text. Every dynamic dim is the symbol `?`, and a constant whose elements
/// are all equal holds one. The module is checked as the dialect's verifier would: types of
/// operands and results, attributes, names of values, globals and decompositions. Fails with
/// `text-syntax`, `op-unknown`, `operand-count`, `type-mismatch`, `attribute-invalid` or
/// `shape-too-large`; `at` is `source:line:column`.
Result<Module> read_module(std::string_view text, std::string_view source = "text");

}  // namespace capra::stablehlo
