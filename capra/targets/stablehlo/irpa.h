// Writing parameter archives of the IREE runtime (.irpa, version 0).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "capra/base/hashed_file.h"
#include "capra/ir/parameters.h"
#include "capra/targets/stablehlo/module.h"

namespace capra::stablehlo {

/// Writes the data of `globals`, in this order, as the archive `path`. The bytes are those of the
/// runtime's own writer; behind its entries stand those of equal keys, whose data are there
/// already. Data go straight to the file, one parameter at a time; those that are made of a
/// parameter are made then. Fails with `parameter-missing` or `parameter-type` before anything is
/// written, and as HashedFile does.
Result<FileDigest> write_irpa(const std::string& path, std::span<const Global> globals,
                              const Parameters& parameters);

/// The data of `global`: of the parameter, or what is made of it. Fails as `parameter_data`.
Result<Array> global_data(const Global& global, const Parameters& parameters);

/// Array of a parameter; fails with `parameter-missing` or `parameter-type`.
Result<Array> parameter_data(const Parameters& parameters, const std::string& path,
                             const TensorType& type);

}  // namespace capra::stablehlo
