// Comparing and hashing attribute values.
#include "capra/ir/attrs.h"

#include <bit>
#include <functional>

namespace capra {
namespace {

// Bits decide: NaN equals NaN, and the zeros differ.
bool equal(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }
template <class T>
bool equal(const T& a, const T& b) {
  return a == b;
}

uint64_t hash_bytes(std::string_view bytes) { return std::hash<std::string_view>()(bytes); }
uint64_t hash_one(bool v) { return v ? 1 : 2; }
uint64_t hash_one(int64_t v) { return std::hash<int64_t>()(v); }
uint64_t hash_one(double v) { return std::hash<uint64_t>()(std::bit_cast<uint64_t>(v)); }
uint64_t hash_one(const std::string& v) { return hash_bytes(v); }
uint64_t hash_one(DType v) { return static_cast<uint64_t>(v); }
uint64_t hash_one(const Shape& v) { return hash_bytes(v.text()); }
uint64_t hash_one(const TensorType& v) { return hash_bytes(v.text()); }
uint64_t hash_one(const std::vector<int64_t>& v) {
  return hash_bytes({reinterpret_cast<const char*>(v.data()), v.size() * sizeof(int64_t)});
}
uint64_t hash_one(const Array& v) {
  if (!v) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(v.data()), v.byte_size());
  return hash_bytes(bytes) ^ hash_bytes(v.type().text());
}

}  // namespace

std::string_view attr_kind_name(AttrKind kind) {
  constexpr std::string_view kNames[] = {"bool", "int",   "float", "string", "dtype",
                                         "ints", "shape", "array", "type"};
  return kNames[static_cast<size_t>(kind)];
}

int attr_index(const AttrSchema& schema, std::string_view name) {
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    if (schema.fields[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

bool attrs_equal(const Attrs& a, const Attrs& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].index() != b[i].index()) return false;
    const bool same = std::visit(
        [&](const auto& value) {
          return equal(value, std::get<std::remove_cvref_t<decltype(value)>>(b[i]));
        },
        a[i]);
    if (!same) return false;
  }
  return true;
}

uint64_t attrs_hash(const Attrs& attrs) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const AttrValue& attr : attrs) {
    const uint64_t one = std::visit([](const auto& value) { return hash_one(value); }, attr);
    hash = (hash ^ one ^ (attr.index() << 56)) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace capra
