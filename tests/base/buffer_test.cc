// Buffers and files: alignment, owners, and writes that leave nothing half done.
#include "capra/base/buffer.h"
#include "capra/base/new_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/base/temp_folder.h"

namespace capra {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  void TearDown() override { fs::permissions(folder_, fs::perms::owner_all); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      all.push_back(entry.path().filename().string());
    }
    std::ranges::sort(all);
    return all;
  }
  TempFolder temporary_;
  fs::path folder_ = temporary_.path();
};

TEST(Buffers, AreAlignedZerosOfAnySize) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{100000}}) {
    const auto buffer = Buffer::allocate(size);
    EXPECT_EQ(buffer->size(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % Buffer::kAlignment, 0u);
    EXPECT_TRUE(
        std::ranges::all_of(buffer->bytes(), [](std::byte b) { return b == std::byte{0}; }));
  }
}

TEST(Buffers, ReleaseWhatTheyWrapOnce) {
  std::byte bytes[4] = {};
  int released = 0;
  {
    const auto buffer = Buffer::wrap(bytes, sizeof bytes, [&] { ++released; });
    const auto shared = buffer;
    EXPECT_EQ(shared->data(), bytes);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST_F(Files, WrittenReadAndMapped) {
  std::string contents(300000, 'a');
  contents[7] = '\0';
  contents.back() = 'z';
  ASSERT_TRUE(write_file(path("f"), contents).ok());
  EXPECT_EQ(*read_file(path("f")), contents);
  const Result<std::shared_ptr<Buffer>> mapped = map_file(path("f"));
  ASSERT_TRUE(mapped.ok());
  ASSERT_EQ((*mapped)->size(), contents.size());
  EXPECT_EQ(std::memcmp((*mapped)->data(), contents.data(), contents.size()), 0);
  ASSERT_TRUE(write_file(path("empty"), "").ok());
  EXPECT_EQ(*read_file(path("empty")), "");
  EXPECT_EQ((*map_file(path("empty")))->size(), 0u);
  EXPECT_EQ(names(), (std::vector<std::string>{"empty", "f"}));
}

TEST_F(Files, DroppedPagesAreReadAgain) {
  const std::string contents(100000, 'k');
  ASSERT_TRUE(write_file(path("f"), contents).ok());
  const auto mapped = *map_file(path("f"));
  EXPECT_EQ(std::memcmp(mapped->data(), contents.data(), contents.size()), 0);
  mapped->drop_pages(5, contents.size() - 10);
  EXPECT_EQ(std::memcmp(mapped->data(), contents.data(), contents.size()), 0);
  const auto own = Buffer::allocate(contents.size());  // no file to read it from again: it stays
  std::ranges::fill(std::span(own->data(), own->size()), std::byte{7});
  own->drop_pages(0, own->size());
  EXPECT_TRUE(std::ranges::all_of(own->bytes(), [](std::byte b) { return b == std::byte{7}; }));
}

TEST_F(Files, AMappingOutlivesTheFileName) {
  ASSERT_TRUE(write_file(path("f"), "first").ok());
  const auto mapped = *map_file(path("f"));
  ASSERT_TRUE(write_file(path("f"), "other").ok());  // a new file under the name
  EXPECT_EQ(std::memcmp(mapped->data(), "first", 5), 0);
  EXPECT_EQ(*read_file(path("f")), "other");
}

TEST_F(Files, ThatCannotBeReadAreNamed) {
  for (const std::string& missing : {path("none"), path("none/deeper")}) {
    const auto read = read_file(missing);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, "file-not-found");
    EXPECT_EQ(read.error().at, missing);
    EXPECT_EQ(map_file(missing).error().code, "file-not-found");
  }
  EXPECT_EQ(read_file(folder_).error().code, "file-unreadable");
  EXPECT_EQ(map_file(folder_).error().code, "file-unreadable");
}

TEST_F(Files, PipesAreReadToTheEndAndNeverMapped) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const auto mapped = map_file(path("pipe"));  // and does not wait
  ASSERT_FALSE(mapped.ok());
  EXPECT_EQ(mapped.error().code, "file-unreadable");
  EXPECT_NE(mapped.error().message.find("a pipe or a device"), std::string::npos);
  EXPECT_NE(mapped.error().help.find("a regular file"), std::string::npos);
  // More than a pipe holds, and than one piece of what is read; and nothing at all.
  std::string contents(300000, 'p');
  contents[70000] = '\0';
  for (const std::string& sent : {contents, std::string(size_t{1} << 16, 'q'), std::string()}) {
    std::thread writer([&] {
      std::ofstream out(path("pipe"), std::ios::binary);
      for (size_t at = 0; at < sent.size(); at += 1000) out << sent.substr(at, 1000) << std::flush;
    });
    const Result<std::string> read = read_file(path("pipe"));
    writer.join();
    ASSERT_TRUE(read.ok()) << to_text(read.error());
    EXPECT_TRUE(*read == sent);
  }
  EXPECT_EQ(*read_file("/dev/null"), "");
}

TEST_F(Files, ADeviceIsWrittenToAndStays) {
  ASSERT_TRUE(write_file("/dev/null", "x").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Files, AFailedWriteLeavesTheOldFileAndNothingElse) {
  ASSERT_TRUE(write_file(path("f"), "old").ok());
  // A file size limit makes write stop half way, as a full disk does.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = write_file(path("f"), std::string(5000, 'n'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, "file-unwritable");
  EXPECT_EQ(status.error().at, path("f"));
  EXPECT_EQ(*read_file(path("f")), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"f"});
}

TEST_F(Files, ALinkIsFollowedAndPermissionsStay) {
  ASSERT_TRUE(write_file(path("f"), "old").ok());
  fs::permissions(path("f"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(path("f"), path("link"));
  ASSERT_TRUE(write_file(path("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  fs::create_directory(path("d"));
  fs::create_symlink("../made", path("d/to_nothing"));
  ASSERT_TRUE(write_file(path("d/to_nothing"), "x").ok());
  EXPECT_TRUE(fs::is_symlink(path("d/to_nothing")));
  EXPECT_EQ(*read_file(path("made")), "x");
  fs::create_symlink("loop", path("loop"));
  EXPECT_EQ(write_file(path("loop"), "x").error().code, "file-unwritable");
  EXPECT_EQ(*read_file(path("f")), "new");
  EXPECT_EQ(fs::status(path("f")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Files, AFolderThatIsNotThereIsNotMade) {
  const Status status = write_file(path("none/f"), "x");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, "file-unwritable");
  EXPECT_TRUE(names().empty());
}

TEST_F(Files, AFolderIsNotOverwritten) {
  fs::create_directory(path("d"));
  const Status status = write_file(path("d"), "x");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, "file-unwritable");
  EXPECT_EQ(names(), std::vector<std::string>{"d"});
}

}  // namespace
}  // namespace capra
