// The commands of `capra ga2` and their options.
#pragma once

#include <string>
#include <vector>

#include "tools/capra/command.h"

namespace capra::driver {

/// A command that compiles a graph for the chip.
struct Ga2Options : OutputOptions {
  std::string file;        ///< a graph document, or FILE.tir
  std::string parameters;  ///< --parameters: a safetensors file with those of FILE.tir; empty: none
  std::string calibrate;   ///< --calibrate: a file with the samples; empty: those of the document
  std::vector<std::string> ranges;  ///< --range: TAG=V
  std::string schedule = "author";
  bool no_reuse = false;
};

struct Ga2CompileOptions : Ga2Options {
  std::string output;  ///< --output: a program, by its suffix; empty: none
  std::string memory;  ///< --memory: external memory before a run; empty: none
};

struct Ga2RunOptions : Ga2Options {
  std::vector<std::string> inputs;  ///< --input: NAME=FILE
  bool trace = false;
};

struct Ga2ExplainOptions : Ga2Options {
  std::string output;  ///< --output: a folder for the pictures; empty: none
};

/// A command that turns one form of a program into the other.
struct Ga2TextOptions : OutputOptions {
  std::string file;
  std::string output = "-";
};

Result<int> run_ga2_compile(const Ga2CompileOptions& options);
Result<int> run_ga2_run(const Ga2RunOptions& options);
Result<int> run_ga2_explain(const Ga2ExplainOptions& options);
Result<int> run_ga2_asm(const Ga2TextOptions& options);
Result<int> run_ga2_disasm(const Ga2TextOptions& options);

}  // namespace capra::driver
