// Loading plugins: what is accepted, and each refusal.
#include "capra/runtime/plugin.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "capra/ops/gelu.h"
#include "capra/targets/all_targets.h"
#include "tests/base/temp_folder.h"

namespace capra {
namespace {

std::string built(const std::string& name) { return PLUGIN_FOLDER "/plugin_" + name + ".so"; }

TEST(Plugin, SeesTheSameRecordAsTheLibrary) {
  const TargetSet targets = load_plugin(built("records")).value_or_throw();
  ASSERT_EQ(targets.size(), 1U);
  EXPECT_EQ(targets[0]->name, "records");
  const Granularity seen = targets[0]->optimizer.granularity();
  ASSERT_EQ(seen.kept.size(), 1U);
  EXPECT_EQ(seen.kept[0], &kGelu);
  EXPECT_EQ(load_plugin(built("records")).value_or_throw().data(), targets.data());
}

TEST(Plugin, JoinsTheTargetsByName) {
  const std::vector<std::string> plugins{built("records")};
  const std::vector<const Target*> all = with_plugins(all_targets(), plugins).value_or_throw();
  ASSERT_EQ(all.size(), all_targets().size() + 1);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &Target::name));
  EXPECT_EQ((*find_target(all, "records"))->name, "records");
  const auto twice = with_plugins(all, plugins);
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().code, "target-name-taken");
  EXPECT_NE(twice.error().message.find("'records'"), std::string::npos);
}

struct Refusal {
  std::string path;
  std::string code;
  std::vector<std::string> said;  ///< parts of the message
};

TEST(Plugin, IsRefusedWithBothValuesAndWhatToDo) {
  const Plugin own;
  const std::vector<Refusal> refusals{
      {built("none"), "file-not-found", {}},
      {CAPRA_SOURCE_DIR "/README.md", "plugin-not-loadable", {"README.md"}},
      {CAPRA_SOURCE_DIR, "plugin-not-loadable", {}},
      {LIBRARY, "plugin-entry-missing", {"capra_plugin"}},
      {built("magic"), "plugin-magic", {"0x0000000000000001", "0x4e4947554c504143"}},
      {built("version"), "plugin-version", {"0.0.1", own.version}},
      {built("no_version"), "plugin-version", {"nothing", own.version}},
      {built("compiler"), "plugin-compiler", {"tcc 1", own.compiler}},
      {built("op_table"), "plugin-op-table", {"0000000000000002", "this capra is"}},
      {built("throws_at_once"), "plugin-failed", {"capra_plugin", "no device"}},
      {built("null_record"), "target-invalid", {"null"}},
      {built("no_name"), "target-invalid", {"no name"}},
      {built("odd_name"), "target-invalid", {"'x\\x0a<b>\\xff'"}},
      {built("own_base"), "target-invalid", {"'own-base'"}},
      {built("two_bases"), "target-invalid", {"'first'"}},
  };
  for (const Refusal& refusal : refusals) {
    const auto targets = load_plugin(refusal.path);
    ASSERT_FALSE(targets.ok()) << refusal.path;
    const Diagnostic& found = targets.error();
    EXPECT_EQ(found.code, refusal.code);
    EXPECT_EQ(found.at, refusal.path);
    EXPECT_FALSE(found.help.empty());
    for (const std::string& part : refusal.said) {
      EXPECT_NE(found.message.find(part), std::string::npos) << to_text(found);
    }
  }
}

// A loader maps what the header names and touches it: bytes that are not there end the process.
TEST(Plugin, IsRefusedWhenItIsCutShort) {
  const TempFolder folder;
  const std::string path = folder.path() + "/cut.so";
  const std::string whole = built("records");
  // Within what is mapped: behind it may be information for debuggers, which is not missed.
  for (const uintmax_t left : {4096, 1000, 100, 64, 0}) {
    std::filesystem::copy_file(whole, path, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(path, left);
    const auto targets = load_plugin(path);
    ASSERT_FALSE(targets.ok()) << left;
    EXPECT_EQ(targets.error().code, "plugin-not-loadable");
    EXPECT_EQ(targets.error().at, path);
  }
}

}  // namespace
}  // namespace capra
