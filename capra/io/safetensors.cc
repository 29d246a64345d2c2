// The reader: header, entries, and the rule that the ranges tile the data section.
#include "capra/io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "capra/base/half.h"
#include "capra/io/json.h"
#include "capra/io/safetensors_dtypes.h"

namespace capra {
namespace {

uint64_t read_u64(const std::byte* bytes) {  // little-endian by definition of the format
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | std::to_integer<uint64_t>(bytes[i]);
  return value;
}

std::string tensor_at(const std::string& path, const std::string& name) {
  std::string quoted;
  append_json_string(quoted, name);
  return fmt::format("{}: tensor {}", path, quoted);
}

Failure header_failure(const std::string& what, const std::string& at) {
  return fail("safetensors-header", what, at, "get the file again, or write it again");
}

Result<std::map<std::string, std::string>> read_metadata(const Json& json,
                                                         const std::string& path) {
  std::map<std::string, std::string> metadata;
  const std::string at = path + ": __metadata__";
  if (!json.is_object()) {
    return fail("safetensors-metadata",
                fmt::format("found {}, needed an object of strings", json.kind_text()), at,
                "write the file again with string metadata");
  }
  for (const auto& [key, value] : json.members()) {
    if (!value.is_string()) {
      std::string quoted;
      append_json_string(quoted, key);
      return fail("safetensors-metadata",
                  fmt::format("the value of {} is {}, needed a string", quoted, value.kind_text()),
                  at, "write the file again with string metadata");
    }
    metadata.emplace(key, *value.as_string());
  }
  return metadata;
}

Result<uint64_t> read_offset(const Json& value, const std::string& at) {
  if (const auto offset = value.as_u64()) return *offset;
  return header_failure(
      fmt::format("data_offsets holds {}, needed two integers from 0 on", value.text()), at);
}

// Elements times bytes of an element, no intermediate product beyond 63 bits; sizes are at least 0.
std::optional<uint64_t> byte_size(const std::vector<int64_t>& sizes, DType dtype) {
  auto bytes = static_cast<int64_t>(dtype_bytes(dtype));
  for (const int64_t size : sizes) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  }
  return static_cast<uint64_t>(bytes);
}

Result<SafetensorsEntry> read_entry(const std::string& name, const Json& json,
                                    const std::string& path) {
  const std::string at = tensor_at(path, name);
  if (!json.is_object()) {
    return header_failure(fmt::format("found {}, needed an object", json.kind_text()), at);
  }
  const Json* dtype = json.find("dtype");
  const Json* shape = json.find("shape");
  const Json* offsets = json.find("data_offsets");
  if (dtype == nullptr || shape == nullptr || offsets == nullptr) {
    return header_failure(fmt::format("{} is missing", dtype == nullptr   ? "dtype"
                                                       : shape == nullptr ? "shape"
                                                                          : "data_offsets"),
                          at);
  }
  SafetensorsEntry entry;
  entry.name = name;
  if (!dtype->is_string()) {
    return header_failure(fmt::format("dtype is {}, needed a string", dtype->kind_text()), at);
  }
  const auto known = dtype_of_safetensors(*dtype->as_string());
  if (!known) {
    return fail("safetensors-dtype",
                fmt::format("dtype {} is not one of {}", dtype->text(), safetensors_dtype_list()),
                at, "convert the checkpoint to F32, F16 or BF16");
  }
  entry.dtype = *known;

  if (!shape->is_array()) {
    return header_failure(fmt::format("shape is {}, needed an array", shape->kind_text()), at);
  }
  for (const Json& size : shape->items()) {
    const auto extent = size.as_i64();
    if (!extent || *extent < 0) {
      return fail("safetensors-shape",
                  fmt::format("shape {} holds {}, needed integers from 0 to 2^63 - 1",
                              shape->text(), size.text()),
                  at, "write the file again");
    }
    entry.sizes.push_back(*extent);
  }
  const auto bytes = byte_size(entry.sizes, entry.dtype);
  if (!bytes) {
    return fail("safetensors-shape",
                fmt::format("the elements of shape {} do not fit in 64 bits", shape->text()), at,
                "write the file again");
  }

  if (!offsets->is_array() || offsets->items().size() != 2) {
    return header_failure(fmt::format("data_offsets is {}, needed two integers", offsets->text()),
                          at);
  }
  CAPRA_ASSIGN(entry.begin, read_offset(offsets->items()[0], at));
  CAPRA_ASSIGN(entry.end, read_offset(offsets->items()[1], at));
  if (entry.end < entry.begin) {
    return fail("safetensors-layout",
                fmt::format("data_offsets {} end before they begin", offsets->text()), at,
                "write the file again");
  }
  if (entry.end - entry.begin != *bytes) {
    return fail("safetensors-size",
                fmt::format("{} bytes of data for {} of shape {}, needed {}",
                            entry.end - entry.begin, *dtype->as_string(), shape->text(), *bytes),
                at, "write the file again");
  }
  return entry;
}

// The ranges in file order must run from 0 to the end of the data without hole or overlap.
Status check_layout(const std::vector<SafetensorsEntry>& tensors, uint64_t data_size,
                    const std::string& path) {
  std::vector<const SafetensorsEntry*> order;
  order.reserve(tensors.size());
  for (const auto& entry : tensors) order.push_back(&entry);
  std::ranges::sort(order, [](const auto* a, const auto* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  uint64_t reached = 0;
  for (const auto* entry : order) {
    const std::string at = tensor_at(path, entry->name);
    if (entry->end > data_size) {
      return fail("safetensors-truncated",
                  fmt::format("its data ends at byte {} of the data section, which has {}",
                              entry->end, data_size),
                  at, "get the file again: it is cut off");
    }
    if (entry->begin != reached) {
      return fail("safetensors-layout",
                  fmt::format("{}: its data begins at byte {}, needed {}",
                              entry->begin < reached ? "overlap" : "hole", entry->begin, reached),
                  at, "write the file again");
    }
    reached = entry->end;
  }
  if (reached != data_size) {
    return fail("safetensors-layout",
                fmt::format("{} bytes after the last tensor belong to none", data_size - reached),
                path, "get the file again, or write it again");
  }
  return {};
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  CAPRA_ASSIGN(auto bytes, map_file(path));
  return parse(std::move(bytes), path);
}

Result<SafetensorsFile> SafetensorsFile::parse(std::shared_ptr<Buffer> bytes, std::string path) {
  SafetensorsFile file;
  file.path_ = std::move(path);
  file.bytes_ = std::move(bytes);
  const size_t size = file.bytes_->size();
  if (size < 8) {
    return fail("safetensors-truncated",
                fmt::format("{} bytes, needed 8 for the header's length", size), file.path_,
                "get the file again: it is cut off");
  }
  const uint64_t header_size = read_u64(file.bytes_->data());
  if (header_size > kMaxHeaderBytes) {
    return header_failure(
        fmt::format("a header of {} bytes, the format allows {}", header_size, kMaxHeaderBytes),
        file.path_);
  }
  if (header_size > size - 8) {
    return fail("safetensors-truncated",
                fmt::format("a header of {} bytes in a file of {}", header_size, size), file.path_,
                "get the file again: it is cut off");
  }
  const std::string_view header(reinterpret_cast<const char*>(file.bytes_->data()) + 8,
                                header_size);
  if (!header.starts_with('{')) {
    return header_failure("the header does not begin with {", file.path_);
  }
  // Padding is spaces only; JSON itself would also take tabs and line ends.
  const std::string_view padding = header.substr(header.rfind('}') + 1);
  if (header.rfind('}') == std::string_view::npos ||
      padding.find_first_not_of(' ') != std::string_view::npos) {
    return header_failure("the header does not end with } and spaces", file.path_);
  }
  CAPRA_ASSIGN(const Json json, Json::parse(header, file.path_ + ": header"));
  file.data_begin_ = 8 + header_size;
  for (const auto& [name, value] : json.members()) {
    if (name == "__metadata__") {
      CAPRA_ASSIGN(file.metadata_, read_metadata(value, file.path_));
    } else {
      CAPRA_ASSIGN(auto entry, read_entry(name, value, file.path_));
      file.tensors_.push_back(std::move(entry));
    }
  }
  CAPRA_TRY(check_layout(file.tensors_, size - file.data_begin_, file.path_));
  std::ranges::sort(file.tensors_, {}, &SafetensorsEntry::name);
  return file;
}

const SafetensorsEntry* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      tensors_, name, {},
      [](const SafetensorsEntry& entry) { return std::string_view(entry.name); });
  return found != tensors_.end() && found->name == name ? &*found : nullptr;
}

Result<Array> SafetensorsFile::array(std::string_view name) const {
  const SafetensorsEntry* entry = find(name);
  if (entry == nullptr) {
    return fail("tensor-missing", "no such tensor", tensor_at(path_, std::string(name)),
                "use a checkpoint that has it");
  }
  const size_t offset = data_begin_ + entry->begin;
  const std::byte* data = bytes_->data() + offset;
  if (entry->dtype == DType::Bool) {
    const auto* end = data + (entry->end - entry->begin);
    const auto* bad = std::find_if(data, end, [](std::byte b) { return b > std::byte{1}; });
    if (bad != end) {
      return fail(
          "safetensors-bool",
          fmt::format("element {} is {}, needed 0 or 1", bad - data, std::to_integer<int>(*bad)),
          tensor_at(path_, entry->name), "write the file again");
    }
  }
  if (reinterpret_cast<uintptr_t>(data) % dtype_bytes(entry->dtype) != 0) {
    Array copy = Array::zeros(entry->dtype, entry->sizes);
    std::memcpy(copy.mutable_data(), data, copy.byte_size());
    return copy;
  }
  return Array::view(entry->dtype, entry->sizes, bytes_, offset);
}

Result<Array> widen_to_f32(const Array& array) {
  if (array.dtype() == DType::F32) return array;
  if (array.dtype() != DType::F16 && array.dtype() != DType::BF16) {
    return fail("weights-dtype",
                fmt::format("found {}, needed f32, f16 or bf16", dtype_name(array.dtype())), "",
                "convert the checkpoint to one of these");
  }
  Array wide = Array::zeros(DType::F32, array.sizes());
  std::ranges::transform(array.as<uint16_t>(), wide.mutable_as<float>().begin(),
                         array.dtype() == DType::F16 ? f16_to_f32 : bf16_to_f32);
  return wide;
}

}  // namespace capra
