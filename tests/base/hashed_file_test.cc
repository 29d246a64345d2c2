// Files that are hashed on the way, against values from outside; holes; devices.
#include "capra/base/hashed_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "capra/base/buffer.h"
#include "tests/base/temp_folder.h"

namespace capra {
namespace {

class Hashed : public ::testing::Test {
 protected:
  std::string path(const char* name) const { return folder_.path() + "/" + name; }

  TempFolder folder_;
};

// The examples of FIPS 180-4.
TEST_F(Hashed, GivesTheHashesOfTheStandard) {
  EXPECT_EQ(write_hashed(path("a"), "abc").value_or_throw(),
            (FileDigest{3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}));
  EXPECT_EQ(read_file(path("a")).value_or_throw(), "abc");
  EXPECT_EQ(write_hashed(path("empty"), "").value_or_throw().sha256,
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  HashedFile pieces = HashedFile::create(path("b")).value_or_throw();
  pieces.write("abcdbcdecdefdefgefghfghi");
  pieces.write("ghijhijkijkljklmklmnlmnomnopnopq");
  EXPECT_EQ(pieces.finish().value_or_throw().sha256,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST_F(Hashed, LongRunsOfZerosAreHoles) {
  constexpr size_t kZeros = size_t{5} << 20;
  const std::string zeros(kZeros, '\0');
  for (const char* end : {"", "end"}) {
    HashedFile file = HashedFile::create(path("z")).value_or_throw();
    file.write("start");
    file.pad_to(64);
    file.write(zeros);
    file.write(end);
    const FileDigest digest = file.finish().value_or_throw();
    EXPECT_EQ(read_file(path("z")).value_or_throw(), "start" + std::string(59, '\0') + zeros + end);
    EXPECT_EQ(digest_file(path("z")).value_or_throw(), digest);
    struct stat status{};
    ASSERT_EQ(::stat(path("z").c_str(), &status), 0);
    EXPECT_EQ(static_cast<size_t>(status.st_size), 64 + kZeros + std::string_view(end).size());
    EXPECT_LT(static_cast<size_t>(status.st_blocks) * 512, kZeros / 2);
  }
}

TEST_F(Hashed, DevicesAreWrittenTo) {
  const std::string zeros(size_t{2} << 20, '\0');
  EXPECT_TRUE(write_hashed("/dev/null", zeros).ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(write_hashed("/dev/full", "x").error().code, "file-unwritable");
}

TEST_F(Hashed, RefusesAndLeavesNothing) {
  EXPECT_EQ(write_hashed(path("none/a"), "x").error().code, "file-unwritable");
  EXPECT_EQ(digest_file(path("none")).error().code, "file-not-found");
  {
    HashedFile::create(path("c")).value_or_throw().write("begun");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
}  // namespace capra
