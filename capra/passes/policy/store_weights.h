// The layout in which a target wants the weights of its products stored. A target puts the pass of
// its layout among its own passes, after `legalize`.
#pragma once

#include "capra/passes/pass.h"

namespace capra {

/// Weights as [k, n], or as [n, k]: the second operand of a matmul is read without a transpose, or
/// with one, and a parameter that has the other layout is permuted once, before the program runs.
/// It stays as it is where another node reads it too, where it has been permuted already, and where
/// its author noted `layout = "given"`; any other value of that note is refused
/// (`layout-invalid`). Products keep every bit.
extern const Pass kStoreWeightsKn;
extern const Pass kStoreWeightsNk;

}  // namespace capra
