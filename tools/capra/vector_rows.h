// Vectors as text or NumPy files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "capra/base/result.h"
#include "capra/io/json.h"
#include "models/embedding_model.h"
#include "tools/capra/output.h"

namespace capra::driver {

/// One vector with what is said beside it.
struct VectorRow {
  int64_t index = 0;
  const Json* id = nullptr;  ///< null or a null value: none
  TextReport report;
  std::span<const float> vector;
};

/// Writes rows in one format.
class VectorWriter {
 public:
  virtual ~VectorWriter() = default;
  virtual Status write(const VectorRow& row) = 0;
  /// Lets rows leave that wait in a buffer, where they leave before the end.
  virtual Status flush() { return {}; }
  /// What can be written only at the end; then the output is finished.
  virtual Status finish() = 0;

  /// `format` is jsonl, json (one array), csv or npy. Fails with `output-format-unknown` or as
  /// Output::open does.
  static Result<std::unique_ptr<VectorWriter>> open(std::string_view format,
                                                    const std::string& path, int64_t dimension);
};

}  // namespace capra::driver
