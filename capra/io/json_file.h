// A JSON object from a file with typed access: every wrong value is a named error with file and
// key.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "capra/base/result.h"
#include "capra/io/json.h"

namespace capra {

/// An object whose members are asked for by key. A key with value null counts as absent. The
/// getters fail with `config-missing-key`, `config-wrong-type` or `config-out-of-range`.
class JsonFile {
 public:
  /// Fails with those of read_json_file, and `config-not-object`.
  static Result<JsonFile> open(const std::string& path);
  /// The same for text; `path` names it in messages.
  static Result<JsonFile> parse(std::string_view text, std::string path);
  /// A value that was read already, which stands at `path`.
  static Result<JsonFile> make(Json json, std::string path);

  const std::string& path() const { return path_; }
  const Json& json() const { return json_; }

  bool has(std::string_view key) const { return get(key) != nullptr; }
  /// Null when absent.
  const Json* get(std::string_view key) const;

  Result<std::string> string(std::string_view key) const;
  Result<bool> boolean(std::string_view key) const;
  /// The range is inclusive.
  Result<int64_t> integer(std::string_view key, int64_t min = std::numeric_limits<int64_t>::min(),
                          int64_t max = std::numeric_limits<int64_t>::max()) const;
  Result<double> number(std::string_view key, double min = std::numeric_limits<double>::lowest(),
                        double max = std::numeric_limits<double>::max()) const;

  /// The same with a value for an absent key.
  Result<std::string> string_or(std::string_view key, std::string fallback) const;
  Result<bool> boolean_or(std::string_view key, bool fallback) const;
  Result<int64_t> integer_or(std::string_view key, int64_t fallback,
                             int64_t min = std::numeric_limits<int64_t>::min(),
                             int64_t max = std::numeric_limits<int64_t>::max()) const;
  Result<double> number_or(std::string_view key, double fallback,
                           double min = std::numeric_limits<double>::lowest(),
                           double max = std::numeric_limits<double>::max()) const;

  /// Failures in the form of this class: `needed` ends the sentence "..., needed".
  Failure missing(std::string_view key, std::string_view needed) const;
  Failure wrong_type(std::string_view key, std::string_view needed) const;
  Failure out_of_range(std::string_view key, std::string_view needed) const;

 private:
  std::string place(std::string_view key) const;

  Json json_;
  std::string path_;
};

}  // namespace capra
