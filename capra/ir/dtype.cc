// One table of the element types.
#include "capra/ir/dtype.h"

#include <array>

namespace capra {
namespace {

enum class Kind : uint8_t { Float, Signed, Unsigned, Bool };

struct Row {
  DType dtype;
  std::string_view name;
  size_t bytes;
  Kind kind;
};

constexpr std::array kRows = {
    Row{DType::F64, "f64", 8, Kind::Float},    Row{DType::F32, "f32", 4, Kind::Float},
    Row{DType::F16, "f16", 2, Kind::Float},    Row{DType::BF16, "bf16", 2, Kind::Float},
    Row{DType::I64, "i64", 8, Kind::Signed},   Row{DType::I32, "i32", 4, Kind::Signed},
    Row{DType::I16, "i16", 2, Kind::Signed},   Row{DType::I8, "i8", 1, Kind::Signed},
    Row{DType::U64, "u64", 8, Kind::Unsigned}, Row{DType::U32, "u32", 4, Kind::Unsigned},
    Row{DType::U16, "u16", 2, Kind::Unsigned}, Row{DType::U8, "u8", 1, Kind::Unsigned},
    Row{DType::Bool, "bool", 1, Kind::Bool},
};

constexpr auto kAll = [] {
  std::array<DType, kRows.size()> all{};
  for (size_t i = 0; i < kRows.size(); ++i) all[i] = kRows[i].dtype;
  return all;
}();

const Row& row(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

}  // namespace

std::span<const DType> all_dtypes() { return kAll; }
std::string_view dtype_name(DType dtype) { return row(dtype).name; }
size_t dtype_bytes(DType dtype) { return row(dtype).bytes; }
bool is_float(DType dtype) { return row(dtype).kind == Kind::Float; }
bool is_half(DType dtype) { return dtype == DType::F16 || dtype == DType::BF16; }
bool is_signed_integer(DType dtype) { return row(dtype).kind == Kind::Signed; }
bool is_integer(DType dtype) {
  return row(dtype).kind == Kind::Signed || row(dtype).kind == Kind::Unsigned;
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const Row& r : kRows) {
    if (r.name == name) return r.dtype;
  }
  return std::nullopt;
}

}  // namespace capra
