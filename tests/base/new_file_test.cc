// What a signal's handler removes: files and folders that have not got their names.
#include "capra/base/new_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "capra/base/new_folder.h"
#include "tests/base/temp_folder.h"

namespace capra {
namespace {

class Unfinished : public ::testing::Test {
 protected:
  std::string path(const char* name) const { return folder_.path() + "/" + name; }
  int64_t entries() const {
    return std::distance(std::filesystem::directory_iterator(folder_.path()), {});
  }

  TempFolder folder_;
};

TEST_F(Unfinished, FilesAndFoldersAreRemovedWithAllThatIsInThem) {
  const Result<NewFile> file = NewFile::create(path("f"));
  const Result<NewFolder> folder = NewFolder::create(path("d"));
  ASSERT_TRUE(file.ok() && folder.ok());
  ASSERT_TRUE(write_file(folder->file("whole"), "x").ok());
  std::filesystem::create_directory(folder->file("deeper"));
  ASSERT_TRUE(write_file(folder->file("deeper/whole"), "x").ok());
  EXPECT_EQ(entries(), 2);
  remove_unfinished();
  EXPECT_EQ(entries(), 0);
}

TEST_F(Unfinished, WhatHasItsNameStays) {
  ASSERT_TRUE(write_file(path("f"), "x").ok());
  Result<NewFolder> folder = NewFolder::create(path("d"));
  ASSERT_TRUE(folder.ok() && folder->finish().ok());
  remove_unfinished();
  EXPECT_EQ(entries(), 2);
}

// More files than are remembered at a time, one after the other: each is forgotten.
TEST_F(Unfinished, PlacesAreUsedAgain) {
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(write_file(path("f"), "x").ok());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(NewFile::create(path("g")).ok());
  const Result<NewFile> last = NewFile::create(path("h"));
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(entries(), 2);
  remove_unfinished();
  EXPECT_EQ(entries(), 1);
}

}  // namespace
}  // namespace capra
