// What a signal's handler removes: files and folders that have not got their names.
#include "capra/base/new_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "capra/base/new_folder.h"
#include "tests/base/temp_folder.h"

namespace capra {
namespace {

class Unfinished : public ::testing::Test {
 protected:
  std::string path(const char* name) const { return place.path() + "/" + name; }
  int64_t entries() const {
    return std::distance(std::filesystem::directory_iterator(place.path()), {});
  }

  TempFolder place;
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

int watched = -1;                              ///< the folder, open
volatile std::sig_atomic_t signals_taken = 0;  ///< by the handler
volatile std::sig_atomic_t folders_found = 0;  ///< with something in them after it had removed all

extern "C" void remove_and_look(int) {
  const int error = errno;
  remove_unfinished();
  alignas(dirent64) char entries[2048];
  ::lseek(watched, 0, SEEK_SET);
  const ssize_t bytes = ::getdents64(watched, entries, sizeof entries);
  ssize_t count = 0;
  for (ssize_t at = 0; at < bytes; ++count) {
    at += reinterpret_cast<const dirent64*>(entries + at)->d_reclen;
  }
  constexpr ssize_t kItselfAndAbove = 2;
  if (count != kItselfAndAbove) folders_found = folders_found + 1;
  signals_taken = signals_taken + 1;
  errno = error;
}

// A signal may come between making something and remembering it.
TEST_F(Unfinished, ASignalAtAnyTimeRemovesAll) {
  watched = ::open(place.path().c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_GE(watched, 0);
  const auto before = std::signal(SIGALRM, remove_and_look);
  constexpr itimerval kOften{{0, 100}, {0, 100}};  // every 100 microseconds
  ::setitimer(ITIMER_REAL, &kOften, nullptr);
  constexpr int kSignals = 500;
  while (signals_taken < kSignals) {
    const Result<NewFile> file = NewFile::create(path("f"));
    const Result<NewFolder> folder = NewFolder::create(path("d"));
    ASSERT_TRUE(file.ok() && folder.ok());
  }
  constexpr itimerval kNever{};
  ::setitimer(ITIMER_REAL, &kNever, nullptr);
  std::signal(SIGALRM, before);
  ::close(watched);
  EXPECT_EQ(folders_found, 0) << "of " << signals_taken;
}

}  // namespace
}  // namespace capra
