// Element types: their names, sizes and kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace capra {

enum class DType : uint8_t { F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, Bool };

/// All dtypes, in the order of the enumeration.
std::span<const DType> all_dtypes();

/// `f32`, `bf16`, `i64`, `bool`...
std::string_view dtype_name(DType dtype);
std::optional<DType> parse_dtype(std::string_view name);

/// Bytes an element takes; bool takes 1 (0 or 1).
size_t dtype_bytes(DType dtype);

bool is_float(DType dtype);
/// f16 or bf16.
bool is_half(DType dtype);
bool is_integer(DType dtype);  ///< signed or unsigned, not bool
bool is_signed_integer(DType dtype);

}  // namespace capra
