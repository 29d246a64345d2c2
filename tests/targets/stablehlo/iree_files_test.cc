// Files of runs by tools that only seem to be IREE's: none is read that this run did not write, and
// none is left after a run.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"
#include "capra/targets/stablehlo/iree/target.h"

namespace capra::iree {
namespace {

constexpr const char* kCompiler = R"sh(#!/bin/sh
if [ "$1" = --version ]; then
  echo '  IREE compiler version 3.13.0 @ 89ece87b'
  exit 0
fi
for last; do :; done
echo > "$last"
)sh";

// Lists the folder of the program, and gives the input's bytes as the output unless told to be
// idle.
constexpr const char* kRunner = R"sh(#!/bin/sh
here=$(dirname "$0")
ls "$TMPDIR" > "$here/seen"
[ -e "$here/idle" ] && exit 0
for argument; do
  case $argument in
    --input=*) from=${argument#*@} ;;
    --output=@*) to=${argument#*@} ;;
  esac
done
cat "$from" > "$to"
[ ! -e "$here/broken" ]
)sh";

class IreeFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_);
    make_script("iree-compile", kCompiler);
    make_script("iree-run-module", kRunner);
    const Graph graph =
        parse_graph("graph @f {\n %x = input : f32[2]\n %y = abs %x\n output %y\n}", all_ops())
            .value_or_throw();
    program_ = capra::compile(kTarget, graph, {}, {.tools = {.folder = folder_.string()}})
                   .value_or_throw();
  }
  void TearDown() override {
    program_.reset();
    std::filesystem::remove_all(folder_);
  }

  // The output, or the failure's message.
  std::string run(Workspace& workspace, float first) const {
    const std::vector<float> values{first, 1};
    const Array x = Array::of<float>(DType::F32, {2}, values);
    Array y = Array::zeros(DType::F32, {2});
    const std::vector<InputRef> inputs{x};
    const std::vector<OutputRef> outputs{y};
    const Status done = program_->run(workspace, inputs, outputs);
    return done.ok() ? fmt::format("{}", y.f64_at(0)) : done.error().message;
  }

  void make(std::string_view name) const { std::ofstream(folder_ / name) << ""; }
  void remove(std::string_view name) const { std::filesystem::remove(folder_ / name); }
  /// What the runner saw in the program's folder: its names of files of runs.
  std::string seen() const {
    std::ifstream file(folder_ / "seen");
    std::string names;
    for (std::string name; std::getline(file, name);) {
      if (name.starts_with("run")) names += name + " ";
    }
    return names;
  }

  std::unique_ptr<Executable> program_;

 private:
  void make_script(const char* name, const char* text) const {
    std::ofstream(folder_ / name) << text;
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("iree_files" + std::to_string(::getpid()));
};

TEST_F(IreeFiles, OfTheRunBeforeAreNotRead) {
  Workspace workspace = program_->make_workspace(nullptr);
  EXPECT_EQ(run(workspace, 3), "3");
  make("idle");
  EXPECT_EQ(run(workspace, 4), "iree-run-module wrote nothing for output 'y'");
  remove("idle");
  EXPECT_EQ(run(workspace, 5), "5");
}

TEST_F(IreeFiles, OfARunAreGoneAfterIt) {
  Workspace first = program_->make_workspace(nullptr);
  Workspace second = program_->make_workspace(nullptr);
  EXPECT_EQ(run(first, 3), "3");
  EXPECT_EQ(seen(), "run0_in0.bin ");
  EXPECT_EQ(run(second, 4), "4");
  EXPECT_EQ(seen(), "run1_in0.bin ");
  make("broken");
  EXPECT_NE(run(first, 5), "5");
  remove("broken");
  EXPECT_EQ(run(second, 6), "6");
  EXPECT_EQ(seen(), "run1_in0.bin ");
}

}  // namespace
}  // namespace capra::iree
