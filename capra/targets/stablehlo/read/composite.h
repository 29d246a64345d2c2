// Composites as the ops that they name.
#pragma once

#include <optional>
#include <span>

#include "capra/ir/tensor.h"
#include "capra/targets/stablehlo/module.h"

namespace capra::stablehlo {

/// The call that the composite names, on its operands; nothing where an attribute names symbols.
/// Throws `Error`: `op-unknown`, `attribute-unknown`, `attribute-invalid`, and what the op refuses.
std::optional<Tensor> import_composite(const Context& context, const Operation& operation,
                                       std::span<const Tensor> operands);

}  // namespace capra::stablehlo
