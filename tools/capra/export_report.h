// What report.json says of an exported program.
#pragma once

#include "capra/base/new_folder.h"
#include "capra/io/json.h"
#include "capra/runtime/target.h"

namespace capra::driver {

/// The report of a program that the target wrote of `graph` in `folder`.
Json export_report(const Target& target, const Graph& graph, const WrittenProgram& written,
                   const NewFolder& folder);

}  // namespace capra::driver
