// The results of an outside judge, which `capra docs --conformance` shows.
#pragma once

#include <string>

#include "capra/base/result.h"
#include "capra/io/json.h"
#include "capra/ops/op_docs.h"

namespace capra::driver {

/// Reads `{"judge": "...", "ops": {op: {dtype: {"result": ..., "reason": ...}}}}`; `path` names it
/// in messages. Fails with `conformance-invalid`.
Result<Conformance> parse_conformance(const Json& document, const std::string& path);
/// The same of a file; fails with those of read_json_file too.
Result<Conformance> read_conformance(const std::string& path);

}  // namespace capra::driver
