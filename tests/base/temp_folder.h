// A folder that a test fills with files and that goes away with it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace capra {

class TempFolder {
 public:
  TempFolder() : path_(::testing::TempDir() + "capra.XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no temporary folder " << path_;
  }
  ~TempFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }

  /// Writes a file, making the folders it needs; returns its path.
  std::string write(const std::string& name, std::string_view contents) const {
    const std::filesystem::path path = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary).write(contents.data(), std::ssize(contents));
    return path.string();
  }

 private:
  std::string path_;
};

}  // namespace capra
