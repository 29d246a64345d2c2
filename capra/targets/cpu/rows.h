// The rows of the cpu's table, by family.
#pragma once

#include "capra/targets/cpu/cpu_step.h"

namespace capra::cpu {

extern const CpuRow kElementwiseRows[25];
extern const CpuRow kDataRows[8];
extern const CpuRow kReduceRows[7];
extern const CpuRow kProductRows[2];
extern const CpuRow kAttentionRows[1];

/// The step of a fused group, or null where the cpu has no kernel for exactly this body.
Result<std::unique_ptr<Step>> make_group(const StepRequest& request, const KernelTable& table);

/// Reads indices of any integer type as i64 and checks them against [0, limit): the failure is
/// `index-out-of-range`.
Status read_indices(const View& indices, int64_t limit, int64_t* out);

}  // namespace capra::cpu
