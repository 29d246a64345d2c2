// Where the all-MiniLM-L6-v2 checkpoint is that tests with label ci run on.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace capra {

/// $CAPRA_TEST_MODEL, else models/all-MiniLM-L6-v2 in $CAPRA_CACHE (by default ~/.cache/capra).
/// Without it the test fails: scripts/get_model.sh puts it there.
inline std::string test_model_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  std::string folder = variable("CAPRA_TEST_MODEL");
  if (folder.empty()) {
    const std::string cache = variable("CAPRA_CACHE");
    folder =
        (cache.empty() ? variable("HOME") + "/.cache/capra" : cache) + "/models/all-MiniLM-L6-v2";
  }
  if (!std::filesystem::exists(folder + "/config.json")) {
    ADD_FAILURE() << "no model in " << folder
                  << "; run scripts/get_model.sh, or set CAPRA_TEST_MODEL";
  }
  return folder;
}

}  // namespace capra
