// The rows by family, for the table.
#pragma once

#include "capra/targets/stablehlo/ops.h"

namespace capra::stablehlo {

extern const StablehloRow kDataRows[8];
extern const StablehloRow kElementwiseRows[18];
extern const StablehloRow kReduceRows[4];
/// erf and erfc as operations of chlo; and erf without them.
extern const StablehloRow kChloRows[2];
extern const StablehloRow kErfSequenceRows[1];

}  // namespace capra::stablehlo
