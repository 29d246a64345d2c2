// What an archive of parameters holds: in the header of a safetensors file, in a file beside any
// other archive, which knows no dtypes and shapes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capra/base/hashed_file.h"
#include "capra/ir/shape.h"

namespace capra {

/// Parameter keys with what they stand for.
using ArchiveTypes = std::map<std::string, TensorType, std::less<>>;

/// The contents of the side file.
struct ArchiveIndex {
  FileDigest archive;
  ArchiveTypes parameters;
};

/// The side file of an archive: its name and `.json`.
std::string archive_index_path(const std::string& archive);
/// Its text: `{"archive": {"bytes", "sha256"}, "parameters": [{"key", "dtype", "shape",
/// "bytes"}]}`.
std::string archive_index_text(const ArchiveIndex& index);
/// Reads it; `path` names it in messages. Fails with `archive-index-invalid`, and as JsonFile does.
Result<ArchiveIndex> parse_archive_index(std::string_view text, const std::string& path);

/// What the archive at `path` holds. A side file is believed when the archive is the one it
/// describes, to the byte. Fails with `archive-index-missing`, `archive-index-invalid`,
/// `file-changed`, and as SafetensorsFile, read_file and digest_file do.
Result<ArchiveTypes> read_archive_types(const std::string& path);

/// Whether an archive can be given to a program that takes `key` as `type`, `f32[3, 2]`. What has
/// as many bytes and another dtype or shape is refused too. Fails with `parameter-missing` or
/// `parameter-type`; the archive is named by `path`.
Status check_archived(const ArchiveTypes& held, std::string_view key, std::string_view type,
                      const std::string& path);

/// A key whose data have to be those of another one.
struct EqualKeys {
  std::string key;
  std::string same_as;
};

/// Whether the archive at `path`, which holds what `held` says, has equal data for each pair: the
/// program loads one of the two for both. Bytes are compared piece by piece, in little memory.
/// Fails with `parameter-missing`, `parameter-type` or `parameters-differ`, each of which names
/// both keys, with `archive-invalid`, and as SafetensorsFile does.
Status check_equal_data(const ArchiveTypes& held, std::span<const EqualKeys> pairs,
                        const std::string& path);

}  // namespace capra
