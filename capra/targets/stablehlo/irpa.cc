// The archive's layout: header, entries, names, data. All numbers are little endian.
#include "capra/targets/stablehlo/irpa.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "capra/io/irpa_file.h"
#include "capra/passes/policy/prepare_parameters.h"

namespace capra::stablehlo {
namespace {

static_assert(std::endian::native == std::endian::little, "the archive is little endian");

constexpr uint64_t kEntriesOffset = 96;  // the header, rounded up to 16
constexpr uint64_t kDataAlignment = 64;
constexpr uint64_t kFileAlignment = 4096;

constexpr uint64_t round_up(uint64_t size, uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

struct Entry {
  std::string_view key;
  uint64_t offset = 0;
  uint64_t size = 0;
};

// Each global, then the other keys that find the same data.
std::vector<Entry> entries_of(std::span<const Global> globals) {
  std::vector<Entry> own;
  std::vector<Entry> equal;
  own.reserve(globals.size());
  uint64_t offset = 0;
  for (const Global& global : globals) {
    offset = round_up(offset, kDataAlignment);
    const uint64_t size = byte_size(global.type);
    own.push_back({global.key, offset, size});
    for (const std::string& key : global.equal_keys) equal.push_back({key, offset, size});
    offset += size;
  }
  own.insert(own.end(), equal.begin(), equal.end());
  return own;
}

// The part of the file before the data, which says where everything is.
class Preamble {
 public:
  explicit Preamble(std::span<const Global> globals) {
    const std::vector<Entry> entries = entries_of(globals);
    const uint64_t count = entries.size();
    const uint64_t entries_size = count == 0 ? 0 : (count - 1) * kIrpaEntryStride + kIrpaEntrySize;
    const uint64_t names_offset = kEntriesOffset + entries_size;
    uint64_t names_size = 0;
    for (const Entry& entry : entries) names_size += entry.key.size();
    const uint64_t storage_offset = round_up(names_offset + names_size, kDataAlignment);
    uint64_t storage_size = 0;
    for (const Entry& entry : entries) {
      storage_size = std::max(storage_size, entry.offset + entry.size);
    }

    bytes_ = "IRPA";
    number<uint16_t>(0);  // version
    number<uint16_t>(0);
    for (const uint64_t value :
         {kIrpaHeaderSize, uint64_t{0}, uint64_t{0}, count, kEntriesOffset, entries_size,
          names_offset, names_size, storage_offset, storage_size}) {
      number(value);
    }
    bytes_.resize(kEntriesOffset, '\0');
    uint64_t name = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      bytes_.resize(kEntriesOffset + i * kIrpaEntryStride, '\0');
      number(kIrpaEntrySize);
      number(kIrpaDataEntry);
      const uint64_t name_size = entries[i].key.size();
      for (const uint64_t value : {uint64_t{0}, name, name_size, uint64_t{0}, uint64_t{0},
                                   kDataAlignment, entries[i].offset, entries[i].size}) {
        number(value);
      }
      name += name_size;
    }
    for (const Entry& entry : entries) bytes_ += entry.key;
    bytes_.resize(storage_offset, '\0');
  }

  const std::string& bytes() const { return bytes_; }

 private:
  template <class T>
  void number(T value) {
    std::array<char, sizeof(T)> raw{};
    std::memcpy(raw.data(), &value, sizeof(T));
    bytes_.append(raw.data(), raw.size());
  }

  std::string bytes_;
};

}  // namespace

Result<Array> parameter_data(const Parameters& parameters, const std::string& path,
                             const TensorType& type) {
  const auto found = parameters.find(path);
  if (found == parameters.end()) {
    return fail("parameter-missing", "parameter " + path + " has no data", path,
                "give the file that has it");
  }
  if (found->second.type() != type) {
    return fail("parameter-type",
                "parameter " + path + " is " + found->second.type().text() + ", the graph has " +
                    type.text(),
                path);
  }
  return found->second;
}

namespace {

// What stands among the parameters, from which the data of a global are made.
Result<Array> source_data(const Global& global, const Parameters& parameters) {
  if (global.preparation == nullptr) return parameter_data(parameters, global.key, global.type);
  return parameter_data(parameters, global.preparation->parameter,
                        global.preparation->body.node(0).type);
}

}  // namespace

Result<Array> global_data(const Global& global, const Parameters& parameters) {
  CAPRA_ASSIGN(Array source, source_data(global, parameters));
  if (global.preparation == nullptr) return source;
  Result<Array> prepared = prepared_data(global.preparation->body, source);
  source.drop_pages();
  return prepared;
}

Result<FileDigest> write_irpa(const std::string& path, std::span<const Global> globals,
                              const Parameters& parameters) {
  for (const Global& global : globals) CAPRA_TRY(source_data(global, parameters));
  CAPRA_ASSIGN(HashedFile file, HashedFile::create(path));
  file.write(Preamble(globals).bytes());
  for (const Global& global : globals) {
    CAPRA_ASSIGN(const Array data, global_data(global, parameters));
    file.pad_to(kDataAlignment);
    file.write(data.data(), data.byte_size());
    data.drop_pages();
  }
  file.pad_to(kFileAlignment);
  return file.finish();
}

}  // namespace capra::stablehlo
