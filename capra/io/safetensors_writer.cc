// The writer, and the table of dtype names that it shares with the reader.
#include <algorithm>
#include <vector>

#include "capra/io/json.h"
#include "capra/io/safetensors.h"
#include "capra/io/safetensors_dtypes.h"

namespace capra {
namespace {

constexpr std::string_view kMetadata = "__metadata__";

struct Name {
  std::string_view name;
  DType dtype;
};

// In the reference implementation's order; its writer sorts by this order from the end.
constexpr Name kNames[] = {
    {"BOOL", DType::Bool}, {"U8", DType::U8},   {"I8", DType::I8},     {"I16", DType::I16},
    {"U16", DType::U16},   {"F16", DType::F16}, {"BF16", DType::BF16}, {"I32", DType::I32},
    {"U32", DType::U32},   {"F32", DType::F32}, {"F64", DType::F64},   {"I64", DType::I64},
    {"U64", DType::U64},
};

using Tensors = std::map<std::string, TensorSource>;
using Tensor = const Tensors::value_type*;

Tensors sources_of(const std::map<std::string, Array>& arrays) {
  Tensors tensors;
  for (const auto& [name, array] : arrays) {
    tensors.emplace(name, TensorSource{array.type(), [&array] { return Result<Array>(array); }});
  }
  return tensors;
}

std::vector<Tensor> in_order(const Tensors& tensors) {
  std::vector<Tensor> order;
  for (const auto& tensor : tensors) order.push_back(&tensor);
  std::ranges::sort(order, {}, [](Tensor tensor) {
    return std::pair(-safetensors_rank(tensor->second.type.dtype), std::string_view(tensor->first));
  });
  return order;
}

// What stands before the data: the size of the header, and the header.
std::string preamble(const std::vector<Tensor>& order,
                     const std::map<std::string, std::string>& metadata) {
  JsonObject header;
  if (!metadata.empty()) {
    JsonObject strings;
    for (const auto& [key, value] : metadata) strings.set(key, value);
    header.set(std::string(kMetadata), std::move(strings));
  }
  uint64_t offset = 0;
  for (const Tensor tensor : order) {
    const TensorType& type = tensor->second.type;
    Json shape = Json::array();
    for (const int64_t size : type.shape.sizes()) shape.push(size);
    const uint64_t end = offset + byte_size(type);
    JsonObject entry;
    entry.set("dtype", safetensors_name(type.dtype));
    entry.set("shape", std::move(shape));
    entry.set("data_offsets", std::vector<Json>{offset, end});
    header.set(tensor->first, std::move(entry));
    offset = end;
  }
  std::string text = Json(std::move(header)).text();
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string bytes;
  for (size_t i = 0; i < 8; ++i) bytes += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return bytes + text;
}

}  // namespace

std::string_view safetensors_name(DType dtype) {
  return std::ranges::find(kNames, dtype, &Name::dtype)->name;
}

std::optional<DType> dtype_of_safetensors(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name, &Name::name);
  if (found == std::end(kNames)) return std::nullopt;
  return found->dtype;
}

std::string safetensors_dtype_list() {
  std::string list;
  for (const Name& name : kNames) {
    if (!list.empty()) list += ", ";
    list += name.name;
  }
  return list;
}

int safetensors_rank(DType dtype) {
  return static_cast<int>(std::ranges::find(kNames, dtype, &Name::dtype) - kNames);
}

std::string safetensors_bytes(const std::map<std::string, Array>& tensors,
                              const std::map<std::string, std::string>& metadata) {
  const Tensors sources = sources_of(tensors);
  const std::vector<Tensor> order = in_order(sources);
  std::string bytes = preamble(order, metadata);
  for (const Tensor tensor : order) {
    const Array& array = tensors.at(tensor->first);
    bytes.append(reinterpret_cast<const char*>(array.data()), array.byte_size());
  }
  return bytes;
}

Result<FileDigest> write_safetensors(const std::string& path,
                                     const std::map<std::string, Array>& tensors,
                                     const std::map<std::string, std::string>& metadata) {
  return write_safetensors_of(path, sources_of(tensors), metadata);
}

Result<FileDigest> write_safetensors_of(const std::string& path, const Tensors& tensors,
                                        const std::map<std::string, std::string>& metadata) {
  if (tensors.contains(std::string(kMetadata))) {
    return fail("safetensors-metadata", "a tensor cannot be called " + std::string(kMetadata), path,
                "give the tensor another name, or use another form");
  }
  const std::vector<Tensor> order = in_order(tensors);
  CAPRA_ASSIGN(HashedFile file, HashedFile::create(path));
  file.write(preamble(order, metadata));
  for (const Tensor tensor : order) {
    CAPRA_ASSIGN(const Array data, tensor->second.data());
    CAPRA_CHECK(data.type() == tensor->second.type);
    file.write(data.data(), data.byte_size());
    data.drop_pages();
  }
  return file.finish();
}

}  // namespace capra
