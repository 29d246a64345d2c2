// Composites as the ops that they name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "capra/ir/tensor.h"
#include "capra/targets/stablehlo/module.h"

namespace capra::stablehlo {

/// How an op is called in programs: as its record says, else `capra.<op>`, version 1.
struct CompositeName {
  std::string name;
  int64_t version = 1;
  friend bool operator==(const CompositeName&, const CompositeName&) = default;
};
CompositeName composite_name(const OpDef& op);

/// The call that the composite names, on its operands; nothing where an attribute names symbols.
/// Throws `Error`: `op-unknown`, `attribute-unknown`, `attribute-invalid`, and what the op refuses.
std::optional<Tensor> import_composite(const Context& context, const Operation& operation,
                                       std::span<const Tensor> operands);

}  // namespace capra::stablehlo
