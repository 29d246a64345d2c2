// The fused group that sums rows of embedding tables and normalizes the sum.
#pragma once

#include "capra/targets/cpu/cpu_step.h"

namespace capra::cpu {

/// For groups labelled kFusedEmbeddingLayerNorm; null where the body is not what the kernel
/// computes.
Result<std::unique_ptr<Step>> make_embedding_norm(const StepRequest& request,
                                                  const KernelTable& table);

}  // namespace capra::cpu
