// What report.json says of an exported program.
#pragma once

#include <string>

#include "capra/base/new_folder.h"
#include "capra/io/json.h"
#include "capra/runtime/target.h"

namespace capra::driver {

/// What there is to say of an export.
struct ExportFacts {
  std::string model;  ///< name of the model folder or of the file of graph text
  const Target& target;
  const Graph& graph;       ///< as the target was given it
  const PassReport& asked;  ///< what the passes did to it that the user asked for by options
  const WrittenProgram& written;
  const NewFolder& folder;                ///< with all files but the report
  std::vector<std::string> without = {};  ///< extensions of its language that it was not to use
};

/// The document of docs/report.schema.json.
Json export_report(const ExportFacts& facts);

}  // namespace capra::driver
