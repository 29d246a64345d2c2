// Side files of archives, written and believed.
#include "capra/io/archive_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "capra/base/buffer.h"
#include "capra/base/number_text.h"
#include "capra/io/irpa_file.h"
#include "capra/io/json_file.h"
#include "capra/io/safetensors.h"

namespace capra {
namespace {

constexpr size_t kHashDigits = 64;
constexpr const char* kSafetensors = ".safetensors";
constexpr uint64_t kPieceBytes = 1U << 20U;
constexpr const char* kOfTheModel = "use an archive that was exported from the same model";

Failure invalid(std::string message, const std::string& path) {
  return fail("archive-index-invalid", std::move(message), path,
              "export again, or take the file that was written with the archive");
}

Result<TensorType> parse_type(const JsonFile& row) {
  CAPRA_ASSIGN(const std::string name, row.string("dtype"));
  const auto dtypes = all_dtypes();
  const auto dtype = std::ranges::find(dtypes, name, [](DType one) { return dtype_name(one); });
  if (dtype == dtypes.end()) return invalid("there is no dtype '" + name + "'", row.path());
  const Json* extents = row.get("shape");
  if (extents == nullptr || !extents->is_array()) return row.wrong_type("shape", "an array");
  std::vector<int64_t> sizes;
  for (const Json& extent : extents->items()) {
    const std::optional<int64_t> size = extent.as_i64();
    if (!size || *size < 0) return row.wrong_type("shape", "extents from 0");
    sizes.push_back(*size);
  }
  const TensorType type{*dtype, Shape(sizes)};
  if (!fits_memory(type)) return invalid("no memory holds " + type.text(), row.path());
  return type;
}

// Where the data of an archive are in its file.
Result<FileRanges> ranges_of(const std::shared_ptr<Buffer>& file, const std::string& path) {
  if (!path.ends_with(kSafetensors)) return read_irpa_ranges(file->bytes(), path);
  CAPRA_ASSIGN(const SafetensorsFile tensors, SafetensorsFile::parse(file, path));
  FileRanges ranges;
  for (const SafetensorsEntry& entry : tensors.tensors()) {
    ranges.emplace(entry.name,
                   FileRange{tensors.data_begin() + entry.begin, entry.end - entry.begin});
  }
  return ranges;
}

bool are_equal(const Buffer& file, const FileRange& a, const FileRange& b) {
  if (a == b) return true;
  if (a.size != b.size) return false;
  for (uint64_t at = 0; at < a.size; at += kPieceBytes) {
    const uint64_t size = std::min(kPieceBytes, a.size - at);
    if (std::memcmp(file.data() + a.offset + at, file.data() + b.offset + at, size) != 0) {
      return false;
    }
    file.drop_pages(a.offset + at, size);
    file.drop_pages(b.offset + at, size);
  }
  return true;
}

}  // namespace

std::string archive_index_path(const std::string& archive) { return archive + ".json"; }

std::string archive_index_text(const ArchiveIndex& index) {
  Json archive = Json::object();
  archive.set("bytes", index.archive.bytes).set("sha256", index.archive.sha256);
  Json parameters = Json::array();
  for (const auto& [key, type] : index.parameters) {
    Json shape = Json::array();
    for (const int64_t size : type.shape.sizes()) shape.push(size);
    Json row = Json::object();
    row.set("key", key).set("dtype", dtype_name(type.dtype)).set("shape", std::move(shape));
    parameters.push(row.set("bytes", byte_size(type)));
  }
  Json document = Json::object();
  document.set("archive", std::move(archive)).set("parameters", std::move(parameters));
  return document.text(2) + "\n";
}

Result<ArchiveIndex> parse_archive_index(std::string_view text, const std::string& path) {
  CAPRA_ASSIGN(const JsonFile file, JsonFile::parse(text, path));
  const Json* archive = file.get("archive");
  if (archive == nullptr) return file.missing("archive", "an object");
  CAPRA_ASSIGN(const JsonFile described, JsonFile::make(*archive, path + ": archive"));
  ArchiveIndex index;
  CAPRA_ASSIGN(const int64_t bytes, described.integer("bytes", 0));
  index.archive.bytes = static_cast<uint64_t>(bytes);
  CAPRA_ASSIGN(index.archive.sha256, described.string("sha256"));
  if (index.archive.sha256.size() != kHashDigits) {
    return described.wrong_type("sha256", number_text(kHashDigits) + " digits");
  }
  const Json* rows = file.get("parameters");
  if (rows == nullptr || !rows->is_array()) return file.wrong_type("parameters", "an array");
  for (const Json& row : rows->items()) {
    CAPRA_ASSIGN(const JsonFile fields, JsonFile::make(row, path + ": parameters"));
    CAPRA_ASSIGN(std::string key, fields.string("key"));
    CAPRA_ASSIGN(TensorType type, parse_type(fields));
    CAPRA_ASSIGN(const int64_t size, fields.integer("bytes", 0));
    if (static_cast<uint64_t>(size) != byte_size(type)) {
      return invalid(key + " has " + number_text(size) + " bytes, " + type.text() + " needs " +
                         number_text(byte_size(type)),
                     path);
    }
    const std::string place = fmt::format("{}: {}", path, key);
    if (!index.parameters.emplace(std::move(key), std::move(type)).second) {
      return invalid("a key stands there twice", place);
    }
  }
  return index;
}

Result<ArchiveTypes> read_archive_types(const std::string& path) {
  if (path.ends_with(kSafetensors)) {
    CAPRA_ASSIGN(const SafetensorsFile file, SafetensorsFile::open(path));
    ArchiveTypes types;
    for (const SafetensorsEntry& entry : file.tensors()) {
      types.emplace(entry.name, TensorType{entry.dtype, Shape(entry.sizes)});
    }
    return types;
  }
  if (!file_exists(path)) return fail("file-not-found", "there is no such file", path);
  const std::string beside = archive_index_path(path);
  if (!file_exists(beside)) {
    return fail("archive-index-missing", "there is no file that says what the archive holds",
                beside, "keep the file beside the archive that was written with it");
  }
  CAPRA_ASSIGN(const std::string text, read_file(beside));
  CAPRA_ASSIGN(ArchiveIndex index, parse_archive_index(text, beside));
  CAPRA_ASSIGN(const FileDigest found, digest_file(path));
  if (found != index.archive) {
    return fail("file-changed",
                "the archive has the SHA-256 " + found.sha256 + ", needed " + index.archive.sha256,
                path, "use the archive that " + beside + " was written with");
  }
  return std::move(index.parameters);
}

Status check_archived(const ArchiveTypes& held, std::string_view key, std::string_view type,
                      const std::string& path) {
  const std::string place = path + ": " + std::string(key);
  const auto found = held.find(key);
  if (found == held.end()) {
    return fail("parameter-missing", "the archive has no data for a parameter of the program",
                place, kOfTheModel);
  }
  if (found->second.text() == type) return {};
  return fail(
      "parameter-type",
      "the archive has " + found->second.text() + ", the program takes " + std::string(type), place,
      kOfTheModel);
}

Status check_equal_data(const ArchiveTypes& held, std::span<const EqualKeys> pairs,
                        const std::string& path) {
  for (const auto& [key, same_as] : pairs) {
    const std::string place = fmt::format("{}: {}", path, key);
    const auto own = held.find(key);
    const auto other = held.find(same_as);
    if (own == held.end() || other == held.end()) {
      return fail("parameter-missing",
                  fmt::format("the archive has no {}; the program loads {} for both and needs to "
                              "know that they are equal",
                              own == held.end() ? key : same_as, same_as),
                  place, kOfTheModel);
    }
    if (own->second == other->second) continue;
    return fail("parameter-type",
                fmt::format("the archive has {}, and {} of {}, which the program loads for both",
                            own->second.text(), other->second.text(), same_as),
                place, kOfTheModel);
  }
  if (pairs.empty()) return {};
  CAPRA_ASSIGN(const std::shared_ptr<Buffer> file, map_file(path));
  CAPRA_ASSIGN(const FileRanges ranges, ranges_of(file, path));
  for (const auto& [key, same_as] : pairs) {
    const std::string place = fmt::format("{}: {}", path, key);
    const auto own = ranges.find(key);
    const auto other = ranges.find(same_as);
    if (own == ranges.end() || other == ranges.end()) {
      return fail(
          "archive-invalid",
          fmt::format("the archive has no data for {}", own == ranges.end() ? key : same_as), place,
          "export again, or get the archive again");
    }
    if (are_equal(*file, own->second, other->second)) continue;
    return fail(
        "parameters-differ",
        fmt::format("the archive has other data for {}, which the program loads for both", same_as),
        place,
        "use an archive that was exported from the same model, or export the program again "
        "from the model that this archive is of");
  }
  return {};
}

}  // namespace capra
