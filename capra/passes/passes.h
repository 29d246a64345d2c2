// The records of the passes, one a file of this folder; fusions and raising rules stand in rules/.
#pragma once

#include "capra/passes/pass.h"

namespace capra {

// Core.
extern const Pass kCanonicalize;
extern const Pass kCommonSubexpressions;
extern const Pass kDeadCode;
extern const Pass kEliminateTransposes;
extern const Pass kFoldConstants;

// Legality, by the table of the context.
extern const Pass kLegalize;
extern const Pass kWidenDtypes;

// Fusions: groups that the cpu runs as one, and ops that it runs better.
extern const Pass kFuseAddLayerNorm;
extern const Pass kFuseAttentionQkv;
extern const Pass kFuseEmbeddingLayerNorm;
extern const Pass kFuseLinear;
extern const Pass kFuseLinearActivation;
extern const Pass kFuseLinearAdd;
extern const Pass kFuseLinearAddLayerNorm;
extern const Pass kFuseQkv;

// Raising: ops spelled in primitives, for graphs from outside.
extern const Pass kRaiseAttention;
extern const Pass kRaiseGelu;
extern const Pass kRaiseLayerNorm;
extern const Pass kRaiseNarrow;
extern const Pass kRaiseSoftmax;

}  // namespace capra
