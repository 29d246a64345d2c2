// The eager sink of a target that runs fewer ops than the target whose kernels it uses.
#pragma once

#include <string_view>

#include "capra/ir/tensor.h"
#include "capra/ops/op_table.h"

namespace capra {

/// A context whose calls are those of `inner`, an eager context, where `table` has a row or
/// `granularity` keeps the op; other ops are decomposed. A call throws `Error`: `op-not-legal`, or
/// what `inner` throws.
Context make_narrowed_context(std::string_view target, const OpTable& table,
                              Granularity granularity, Context inner);

}  // namespace capra
