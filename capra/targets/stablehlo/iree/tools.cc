// Finding the tools and asking each for its version.
#include "capra/targets/stablehlo/iree/tools.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "capra/base/number_text.h"
#include "capra/base/subprocess.h"

namespace capra::iree {
namespace {

constexpr double kVersionSeconds = 60;

bool is_program(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> path_folders() {
  const char* path = std::getenv("PATH");
  std::vector<std::string> folders;
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const size_t end = rest.find(':');
    if (end != 0) folders.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  return folders;
}

// `3.13.0` of `3.13.0rc20261016`.
struct Release {
  std::array<int64_t, 3> numbers{};
  friend auto operator<=>(const Release&, const Release&) = default;
};

std::optional<Release> release_of(std::string_view version) {
  Release release;
  for (size_t i = 0; i < release.numbers.size(); ++i) {
    const size_t digits = version.find_first_not_of("0123456789");
    const auto number = parse_i64(version.substr(0, digits));
    if (!number) return {};
    release.numbers[i] = *number;
    const std::string_view rest = digits == std::string_view::npos ? "" : version.substr(digits);
    if (i + 1 < release.numbers.size()) {
      if (!rest.starts_with('.')) return {};
      version = rest.substr(1);
    }
  }
  return release;
}

// The word after `before`, or nothing.
std::string word_after(std::string_view text, std::string_view before) {
  const size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  text = text.substr(at + before.size());
  return std::string(text.substr(0, text.find_first_of(" \t\r\n")));
}

Result<std::string> compiler_version(const std::string& compiler) {
  CAPRA_ASSIGN(
      const ProgramOutcome outcome,
      run_program({.path = compiler, .arguments = {"--version"}, .seconds = kVersionSeconds}));
  std::string version = word_after(outcome.output, "IREE compiler version ");
  if (!release_of(version)) {
    return fail("tool-version",
                outcome.exit_code == 0
                    ? fmt::format("{} does not say which version it is", kCompilerName)
                    : first_words(outcome.errors, {}),
                compiler, kInstallLine);
  }
  return version;
}

// The Python that a script names in its first line, or nothing.
std::string python_of(const std::string& script) {
  std::ifstream file(script, std::ios::binary);
  std::string line;
  if (file.get() != '#' || file.get() != '!' || !std::getline(file, line)) return {};
  const std::string python = line.substr(0, line.find_first_of(" \t\r"));
  const std::string name = std::filesystem::path(python).filename().string();
  return name.starts_with("python") && is_program(python) ? python : std::string();
}

// iree-run-module has no option that tells its version; the package around it does. Empty where
// there is no package.
Result<std::string> runner_version(const std::string& runner) {
  const std::string python = python_of(runner);
  if (python.empty()) return std::string();
  constexpr const char* kAsk =
      "import sys\n"
      "sys.path = [folder for folder in sys.path if folder]\n"
      "try:\n"
      "    from iree._runtime_libs.version import VERSION as version\n"
      "except ImportError:\n"
      "    from importlib.metadata import version as version_of\n"
      "    version = version_of('iree-base-runtime')\n"
      "print(version)\n";
  CAPRA_ASSIGN(
      const ProgramOutcome outcome,
      run_program({.path = python, .arguments = {"-c", kAsk}, .seconds = kVersionSeconds}));
  std::string version = word_after(outcome.output, "");
  if (!release_of(version)) {
    return fail("tool-version",
                fmt::format("the package of {} does not say which version it is: {}", kRunnerName,
                            first_words(outcome.errors + outcome.output, {})),
                runner, kInstallLine);
  }
  return version;
}

// Without what a terminal would take as colors and moves.
std::string plain(std::string_view line) {
  constexpr char kEscape = '\x1b';
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == kEscape && i + 1 < line.size() && line[i + 1] == '[') {
      i = std::min(line.find_first_not_of("0123456789;?", i + 2), line.size());
    } else {
      text += static_cast<unsigned char>(line[i]) < ' ' ? ' ' : line[i];
    }
  }
  const size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

// At most `bytes` of it, cut between characters.
std::string shortened(std::string text, size_t bytes) {
  if (text.size() <= bytes) return text;
  constexpr unsigned char kContinued = 0x80;
  constexpr unsigned char kContinuedMask = 0xC0;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & kContinuedMask) == kContinued) {
    --bytes;
  }
  return text.substr(0, bytes) + "...";
}

// A release is named after its number alone, and says which candidate it was.
bool agree(const std::string& a, const std::string& b) {
  constexpr std::string_view kCandidate = "rc";
  const bool precise =
      a.find(kCandidate) != std::string::npos && b.find(kCandidate) != std::string::npos;
  return precise ? a == b : release_of(a) == release_of(b);
}

}  // namespace

Result<std::string> find_tool(const std::string& name, const std::string& folder) {
  std::vector<std::string> folders = path_folders();
  if (!folder.empty()) folders = {folder, (std::filesystem::path(folder) / "bin").string()};
  for (const std::string& one : folders) {
    std::string path = (std::filesystem::path(one) / name).string();
    if (is_program(path)) return path;
  }
  return fail("tool-not-found",
              folder.empty() ? fmt::format("there is no {} in the folders of PATH", name)
                             : fmt::format("there is no {} in this folder or its bin", name),
              folder.empty() ? "PATH" : folder,
              fmt::format("{}, or name the folder that has it with --iree-dir", kInstallLine));
}

Result<Tools> find_tools(const std::string& folder) {
  Tools tools;
  CAPRA_ASSIGN(tools.compiler, find_tool(kCompilerName, folder));
  CAPRA_ASSIGN(tools.runner, find_tool(kRunnerName, folder));
  CAPRA_ASSIGN(tools.version, compiler_version(tools.compiler));
  if (*release_of(tools.version) < *release_of(kOldestVersion)) {
    return fail("tool-version",
                fmt::format("{} is version {}, needed {} or later", kCompilerName, tools.version,
                            kOldestVersion),
                tools.compiler, kInstallLine);
  }
  CAPRA_ASSIGN(const std::string version, runner_version(tools.runner));
  if (!version.empty() && !agree(version, tools.version)) {
    return fail("tool-versions-differ",
                fmt::format("{} is version {}, {} is version {}", kCompilerName, tools.version,
                            kRunnerName, version),
                tools.runner, kInstallLine);
  }
  return tools;
}

std::string first_words(const std::string& text, const std::string& folder) {
  constexpr size_t kMostLines = 3;
  constexpr size_t kMostBytes = 600;
  std::vector<std::string> lines;
  std::vector<std::string> errors;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = plain(std::string_view(text).substr(at, end - at));
    at = end + 1;
    for (size_t found = line.find(folder); !folder.empty() && found != std::string::npos;
         found = line.find(folder)) {
      line.erase(found, folder.size());
    }
    if (line.empty()) continue;
    if (line.find("error:") != std::string::npos) errors.push_back(line);
    lines.push_back(std::move(line));
  }
  // What a compiler calls an error says more than where it was.
  const std::vector<std::string>& chosen = errors.empty() ? lines : errors;
  std::string words;
  for (size_t i = 0; i < chosen.size() && i < kMostLines; ++i) {
    words += (i == 0 ? "" : "; ") + chosen[i];
  }
  return words.empty() ? "it says nothing" : shortened(std::move(words), kMostBytes);
}

}  // namespace capra::iree
