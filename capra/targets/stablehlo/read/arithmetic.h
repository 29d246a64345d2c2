// Operations that compute, as calls.
#pragma once

#include <optional>
#include <span>

#include "capra/ir/tensor.h"
#include "capra/targets/stablehlo/module.h"

namespace capra::stablehlo {

/// The operation on these operands; nothing for one that moves data or makes shapes. Throws
/// `Error`: `op-not-legal` and what the ops refuse.
std::optional<Tensor> import_arithmetic(const Context& context, const Operation& operation,
                                        std::span<const Tensor> operands);

}  // namespace capra::stablehlo
