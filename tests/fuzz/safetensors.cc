// Any bytes as a safetensors file: refused with a code, or every tensor can be read in bounds.
#include "capra/io/safetensors.h"

#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto buffer = capra::Buffer::allocate(size);
  if (size != 0) std::memcpy(buffer->data(), data, size);
  const auto file = capra::SafetensorsFile::parse(buffer, "fuzz");
  if (!file.ok()) {
    CAPRA_CHECK(capra::find_diagnostic_code(file.error().code) != nullptr);
    return 0;
  }
  size_t total = 0;
  unsigned sum = 0;
  for (const auto& entry : file->tensors()) {
    const auto array = file->array(entry.name);
    if (!array.ok()) {
      CAPRA_CHECK(array.error().code == "safetensors-bool");
      continue;
    }
    CAPRA_CHECK(array->byte_size() == entry.end - entry.begin);
    CAPRA_CHECK(reinterpret_cast<uintptr_t>(array->data()) % capra::dtype_bytes(array->dtype()) ==
                0);
    for (size_t i = 0; i < array->byte_size(); ++i)
      sum += std::to_integer<unsigned>(array->data()[i]);
    total += array->byte_size();
  }
  CAPRA_CHECK(total <= size && sum <= 255u * total);
  return 0;
}
