// Subcommands declared as data, for the command line to read.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tools/capra/cli.h"
#include "tools/capra/command.h"

namespace capra::driver {

// Groups of options, as help lists them.
inline constexpr const char* kInput = "Input";
inline constexpr const char* kModel = "Model";
inline constexpr const char* kGates = "Gates";
inline constexpr const char* kRunning = "Running";
inline constexpr const char* kOutput = "Output";

struct OptionEntry {
  const char* name = "";  ///< `--output`; without dashes an argument
  /// What it sets: a flag, a text, or one text each time that it is given.
  std::variant<bool*, std::string*, std::vector<std::string>*> value;
  const char* takes = "";  ///< FILE, N, NAME; of a flag nothing
  const char* group = "";  ///< of an argument nothing
  const char* text = "";   ///< for help
  bool is_needed = false;  ///< of an argument
};

struct CommandEntry {
  std::string name;
  std::string summary;
  std::vector<OptionEntry> options;  ///< their values live as long as `run`
  std::string example;
  Command run;
};

/// --json and --quiet, which every command has.
inline std::vector<OptionEntry> common_options(OutputOptions& options) {
  return {{.name = "--json",
           .value = &options.json,
           .group = kOutput,
           .text = "one JSON document on standard output"},
          {.name = "--quiet",
           .value = &options.quiet,
           .group = kOutput,
           .text = "no progress, no notes"}};
}

/// A command whose options are those that `list` names and those that all have.
template <class Options>
CommandEntry command_entry(const std::string& name, const std::string& summary,
                           Result<int> (*run)(const Options&), const std::string& example,
                           const std::function<std::vector<OptionEntry>(Options&)>& list) {
  const auto options = std::make_shared<Options>();
  std::vector<OptionEntry> entries = list(*options);
  std::ranges::copy(common_options(*options), std::back_inserter(entries));
  return {.name = name,
          .summary = summary,
          .options = std::move(entries),
          .example = example,
          .run = [options, run] { return run(*options); }};
}

CommandEntry docs_entry();
CommandEntry explain_entry();
/// The commands of `capra ga2`.
std::vector<CommandEntry> ga2_entries();

}  // namespace capra::driver
