// The folder's own words against its files.
#include "tools/capra/export_check.h"

#include <fmt/format.h>

#include <utility>

#include "capra/io/archive_index.h"
#include "capra/io/json_file.h"
#include "tools/capra/output.h"

namespace capra::driver {
namespace {

Result<std::vector<Json>> rows_of(const JsonFile& report, std::string_view key) {
  const Json* rows = report.get(key);
  if (rows == nullptr || !rows->is_array()) return report.wrong_type(key, "an array");
  return std::vector<Json>(rows->items().begin(), rows->items().end());
}

// A name within the folder.
Result<std::string> file_name(const JsonFile& row, std::string_view key) {
  CAPRA_ASSIGN(std::string name, row.string(key));
  if (name.empty() || name.find('/') != std::string::npos || name.starts_with('.')) {
    return row.wrong_type(key, "the name of a file in the folder");
  }
  return name;
}

Status check_file(const std::string& folder, const JsonFile& row) {
  CAPRA_ASSIGN(const std::string name, file_name(row, "file"));
  CAPRA_ASSIGN(const std::string wanted, row.string("sha256"));
  const std::string path = folder + "/" + name;
  CAPRA_ASSIGN(const FileDigest found, digest_file(path));
  if (found.sha256 == wanted) return {};
  return fail("file-changed", "the file has the SHA-256 " + found.sha256 + ", needed " + wanted,
              path, "export again, or take the file that the report was written with");
}

// The dtypes and shapes as text; the data where one parameter stands for another.
Status check_parameters(const std::vector<Json>& rows, const std::string& report,
                        const std::vector<Json>& equal, const std::string& archive) {
  CAPRA_ASSIGN(const ArchiveTypes held, read_archive_types(archive));
  for (const Json& one : rows) {
    CAPRA_ASSIGN(const JsonFile row, JsonFile::make(one, report + ": parameters"));
    CAPRA_ASSIGN(const std::string key, row.string("name"));
    CAPRA_ASSIGN(const std::string type, row.string("type"));
    CAPRA_TRY(check_archived(held, key, type, archive));
  }
  std::vector<EqualKeys> pairs;
  pairs.reserve(equal.size());
  for (const Json& one : equal) {
    CAPRA_ASSIGN(const JsonFile row, JsonFile::make(one, report + ": equal_parameters"));
    CAPRA_ASSIGN(std::string key, row.string("name"));
    CAPRA_ASSIGN(std::string same_as, row.string("same_as"));
    pairs.push_back({std::move(key), std::move(same_as)});
  }
  return check_equal_data(held, pairs, archive);
}

}  // namespace

Result<int> check_export(const ExportOptions& options) {
  const std::string& folder = options.model;
  CAPRA_ASSIGN(const JsonFile report, JsonFile::open(folder + "/report.json"));
  CAPRA_ASSIGN(const std::vector<Json> artifacts, rows_of(report, "artifacts"));
  CAPRA_ASSIGN(const std::vector<Json> parameters, rows_of(report, "parameters"));
  std::vector<Json> equal;  // reports of earlier versions have none
  if (report.has("equal_parameters")) {
    CAPRA_ASSIGN(equal, rows_of(report, "equal_parameters"));
  }
  if (artifacts.empty()) return report.wrong_type("artifacts", "at least one file");
  for (const Json& one : artifacts) {
    CAPRA_ASSIGN(const JsonFile row, JsonFile::make(one, report.path() + ": artifacts"));
    CAPRA_TRY(check_file(folder, row));
  }
  std::string archive = options.archive;
  if (archive.empty() && report.has("archive")) {
    CAPRA_ASSIGN(const std::string own, file_name(report, "archive"));
    archive = folder + "/" + own;
  }
  if (!archive.empty()) CAPRA_TRY(check_parameters(parameters, report.path(), equal, archive));
  if (options.json) {
    Json answer = Json::object();
    answer.set("folder", folder).set("files", static_cast<int64_t>(artifacts.size()));
    answer.set("archive", archive.empty() ? Json() : Json(archive));
    answer.set("parameters", static_cast<int64_t>(parameters.size()));
    CAPRA_TRY(print_result(answer.text(2) + "\n"));
    return kDone;
  }
  if (!options.quiet) {
    fmt::print(stderr, "{}: {} files and {} parameters are as they should be\n", folder,
               artifacts.size(), parameters.size());
  }
  return kDone;
}

}  // namespace capra::driver
