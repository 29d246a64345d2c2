// The table: which ops have a form in StableHLO, and how a call becomes operations.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "capra/ops/op_table.h"
#include "capra/targets/stablehlo/builder.h"

namespace capra::stablehlo {

/// One call to be written. An absent optional operand is -1.
struct Call {
  std::span<const ValueId> operands;
  const Attrs& attrs;
  const TensorType& type;  ///< of the result
};

/// One op with a form of its own.
struct StablehloRow : OpRow {
  /// Appends the operations and returns the value of the result, of the call's type. Throws
  /// `Error`.
  ValueId (*lower)(FunctionBuilder& builder, const Call& call) = nullptr;
};

extern const OpTable kOpTable;
/// The same without operations of chlo: erf is written in primitives, erfc and erf of f64 are not.
extern const OpTable kOpTableWithoutChlo;
/// `own`, or the table without operations of chlo in its place where that is not to be used.
const OpTable& without_extensions(const OpTable& own, const std::vector<std::string>& names);

}  // namespace capra::stablehlo
