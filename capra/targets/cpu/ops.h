// The cpu's table of ops.
#pragma once

#include "capra/ops/op_table.h"
#include "capra/targets/cpu/cpu_step.h"

namespace capra::cpu {

extern const OpTable kOpTable;

/// The step of a node by its row, or of a group.
Result<std::unique_ptr<Step>> make_cpu_step(const StepRequest& request, const KernelTable& table);

}  // namespace capra::cpu
