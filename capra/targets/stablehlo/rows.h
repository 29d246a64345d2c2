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

/// What compilers of the dialect need not do as the records' bounds have it.
inline constexpr std::string_view kOwnFunctions =
    "compilers of the dialect have their own functions";
inline constexpr std::string_view kAnyOrder = "compilers of the dialect add in any order";

}  // namespace capra::stablehlo
