// capra export --check: whether an exported folder is as it was written, and an archive is for it.
#pragma once

#include "tools/capra/command.h"

namespace capra::driver {

/// Compares every file that report.json lists with its SHA-256, and the archive (the folder's own,
/// or `options.archive`) with the parameters that the program takes, and with what has to be equal
/// to them. Fails with `file-not-found`, `file-changed`, `parameter-missing`, `parameter-type`,
/// `parameters-differ`, `archive-invalid`, and as read_archive_types does.
Result<int> check_export(const ExportOptions& options);

}  // namespace capra::driver
