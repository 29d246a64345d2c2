// IREE's command line tools on this machine.
#pragma once

#include <string>

#include "capra/base/result.h"

namespace capra::iree {

/// The compiler and the program that runs what it compiles, of one version.
struct Tools {
  std::string compiler;  ///< path of iree-compile
  std::string runner;    ///< path of iree-run-module
  std::string version;   ///< the compiler's: `3.13.0rc20261016`
};

inline constexpr const char* kCompilerName = "iree-compile";
inline constexpr const char* kRunnerName = "iree-run-module";
/// The oldest version that takes every program that is written.
inline constexpr const char* kOldestVersion = "3.12.0";
/// How to get the version that programs are tested with.
inline constexpr const char* kInstallLine =
    "pip install iree-base-compiler==3.13.0 iree-base-runtime==3.13.0";

/// Path of the tool called `name`: in `folder` or its `bin`; where `folder` is empty, in PATH.
/// Fails with `tool-not-found`.
Result<std::string> find_tool(const std::string& name, const std::string& folder);

/// Both tools. The runner's version is known where it belongs to a Python package; else a program
/// that it does not take tells. Fails with `tool-not-found`, `tool-version`,
/// `tool-versions-differ`.
Result<Tools> find_tools(const std::string& folder);

/// What a tool says that failed: its first lines of substance in one, shortened, without `folder`.
std::string first_words(const std::string& text, const std::string& folder);

}  // namespace capra::iree
