// The names safetensors gives to the dtypes we have. Sub-byte, eight-bit and complex floats are not
// among them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "capra/ir/dtype.h"

namespace capra {

/// `F32`, `BF16`, `I64`, `BOOL`...
std::string_view safetensors_name(DType dtype);
std::optional<DType> dtype_of_safetensors(std::string_view name);
/// `F64, F32, ...`: all of them, for messages.
std::string safetensors_dtype_list();
/// Where the reference writer puts a dtype: higher ranks first.
int safetensors_rank(DType dtype);

}  // namespace capra
