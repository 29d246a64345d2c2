// The golden files of tests/golden/ga2, made by an independent rebuild of the published compiler; a
// value marked `published` is printed in the publication itself.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "capra/io/json.h"

namespace capra::ga2 {

/// The names of the files, without suffix, sorted.
inline std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  const std::filesystem::path folder = std::filesystem::path(CAPRA_SOURCE_DIR) / "tests/golden/ga2";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

inline Json golden_file(std::string_view name) {
  Result<Json> file = read_json_file(std::string(CAPRA_SOURCE_DIR) + "/tests/golden/ga2/" +
                                     std::string(name) + ".json");
  if (!file.ok()) {
    ADD_FAILURE() << to_text(file.error());
    return {};
  }
  return *std::move(file);
}

/// What the file expects of `key`; null where it expects nothing.
inline const Json* expected(const Json& file, std::string_view key) {
  const Json* entries = file.find("expected");
  const Json* entry = entries == nullptr ? nullptr : entries->find(key);
  const Json* value = entry == nullptr ? nullptr : entry->find("value");
  return value == nullptr || value->is_null() ? nullptr : value;
}

}  // namespace capra::ga2
