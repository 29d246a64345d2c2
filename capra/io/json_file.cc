// Typed access to the members of a JSON object, with the errors in one form.
#include "capra/io/json_file.h"

#include <fmt/format.h>

#include "capra/base/number_text.h"

namespace capra {

Result<JsonFile> JsonFile::open(const std::string& path) {
  CAPRA_ASSIGN(Json json, read_json_file(path));
  return make(std::move(json), path);
}

Result<JsonFile> JsonFile::parse(std::string_view text, std::string path) {
  CAPRA_ASSIGN(Json json, Json::parse(text, path));
  return make(std::move(json), std::move(path));
}

Result<JsonFile> JsonFile::make(Json json, std::string path) {
  if (!json.is_object()) {
    return fail("config-not-object", fmt::format("found {}, needed an object", json.kind_text()),
                path, "get the file again");
  }
  JsonFile file;
  file.json_ = std::move(json);
  file.path_ = std::move(path);
  return file;
}

const Json* JsonFile::get(std::string_view key) const {
  const Json* value = json_.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::string JsonFile::place(std::string_view key) const {
  return fmt::format("{}: {}", path_, key);
}

Failure JsonFile::missing(std::string_view key, std::string_view needed) const {
  return fail("config-missing-key", fmt::format("{} is not given, needed {}", key, needed), path_,
              "add the key, or get the file again");
}

Failure JsonFile::wrong_type(std::string_view key, std::string_view needed) const {
  const Json* value = json_.find(key);
  return fail("config-wrong-type",
              fmt::format("{} is {}, needed {}", key,
                          value == nullptr ? "absent" : value->kind_text(), needed),
              place(key), "correct the value");
}

Failure JsonFile::out_of_range(std::string_view key, std::string_view needed) const {
  const Json* value = json_.find(key);
  return fail(
      "config-out-of-range",
      fmt::format("{} is {}, needed {}", key, value == nullptr ? "absent" : value->text(), needed),
      place(key), "correct the value");
}

Result<std::string> JsonFile::string(std::string_view key) const {
  const Json* value = get(key);
  if (value == nullptr) return missing(key, "a string");
  if (!value->is_string()) return wrong_type(key, "a string");
  return *value->as_string();
}

Result<bool> JsonFile::boolean(std::string_view key) const {
  const Json* value = get(key);
  if (value == nullptr) return missing(key, "true or false");
  if (const auto boolean = value->as_bool()) return *boolean;
  return wrong_type(key, "true or false");
}

Result<int64_t> JsonFile::integer(std::string_view key, int64_t min, int64_t max) const {
  const Json* value = get(key);
  if (value == nullptr) return missing(key, "an integer");
  const auto integer = value->as_i64();
  if (!integer && value->kind() != Json::Kind::Unsigned) return wrong_type(key, "an integer");
  if (!integer || *integer < min || *integer > max) {
    return out_of_range(key, fmt::format("an integer from {} to {}", min, max));
  }
  return *integer;
}

Result<double> JsonFile::number(std::string_view key, double min, double max) const {
  const Json* value = get(key);
  if (value == nullptr) return missing(key, "a number");
  const auto number = value->as_f64();
  if (!number) return wrong_type(key, "a number");
  if (!(*number >= min && *number <= max)) {
    return out_of_range(key,
                        fmt::format("a number from {} to {}", number_text(min), number_text(max)));
  }
  return *number;
}

Result<std::string> JsonFile::string_or(std::string_view key, std::string fallback) const {
  return has(key) ? string(key) : Result<std::string>(std::move(fallback));
}

Result<bool> JsonFile::boolean_or(std::string_view key, bool fallback) const {
  return has(key) ? boolean(key) : Result<bool>(fallback);
}

Result<int64_t> JsonFile::integer_or(std::string_view key, int64_t fallback, int64_t min,
                                     int64_t max) const {
  return has(key) ? integer(key, min, max) : Result<int64_t>(fallback);
}

Result<double> JsonFile::number_or(std::string_view key, double fallback, double min,
                                   double max) const {
  return has(key) ? number(key, min, max) : Result<double>(fallback);
}

}  // namespace capra
