// The command line of `capra ga2`.
#include "tools/capra/command_entry.h"
#include "tools/capra/ga2/commands.h"

namespace capra::driver {
namespace {

using Entries = std::vector<OptionEntry>;

// Of every command that compiles.
Entries graph_options(Ga2Options& options) {
  return {
      {.name = "file",
       .value = &options.file,
       .takes = "FILE",
       .text = "a graph as JSON, or FILE.tir",
       .is_needed = true},
      {.name = "--parameters",
       .value = &options.parameters,
       .takes = "FILE",
       .group = kInput,
       .text = "safetensors with the parameters of FILE.tir"},
      {.name = "--calibrate",
       .value = &options.calibrate,
       .takes = "FILE",
       .group = kInput,
       .text = "JSON with samples that choose the scales; default: those of FILE"},
      {.name = "--range",
       .value = &options.ranges,
       .takes = "TAG=V",
       .group = kInput,
       .text = "the range of a tagged tensor; repeatable"},
  };
}

// Of those that take the program as it is made.
void add_program_options(Entries& entries, Ga2Options& options) {
  entries.push_back({.name = "--no-reuse",
                     .value = &options.no_reuse,
                     .group = kRunning,
                     .text = "every buffer keeps its place to the end"});
  entries.push_back({.name = "--schedule",
                     .value = &options.schedule,
                     .takes = "NAME",
                     .group = kRunning,
                     .text = "author: in the graph's order (default); fast: fewer cycles"});
}

Entries compile_options(Ga2CompileOptions& options) {
  Entries entries = graph_options(options);
  add_program_options(entries, options);
  entries.push_back({.name = "--output",
                     .value = &options.output,
                     .takes = "FILE",
                     .group = kOutput,
                     .text = "the program: .hex for words, .lst for the listing"});
  entries.push_back({.name = "--memory",
                     .value = &options.memory,
                     .takes = "FILE",
                     .group = kOutput,
                     .text = "external memory with the weights and `test` of FILE, else zeros"});
  return entries;
}

Entries run_options(Ga2RunOptions& options) {
  Entries entries = graph_options(options);
  add_program_options(entries, options);
  entries.push_back({.name = "--input",
                     .value = &options.inputs,
                     .takes = "NAME=FILE",
                     .group = kInput,
                     .text = "rows as JSON, safetensors, or an array; default: `test` of FILE"});
  entries.push_back({.name = "--trace",
                     .value = &options.trace,
                     .group = kOutput,
                     .text = "a line an instruction: cycle, operands, what it wrote"});
  return entries;
}

Entries explain_options(Ga2ExplainOptions& options) {
  Entries entries = graph_options(options);
  entries.push_back({.name = "--output",
                     .value = &options.output,
                     .takes = "FOLDER",
                     .group = kOutput,
                     .text = "memory_map.svg, tiles.svg and scales.svg in this folder"});
  return entries;
}

Entries text_options(Ga2TextOptions& options, const char* file) {
  return {
      {.name = "file", .value = &options.file, .takes = "FILE", .text = file, .is_needed = true},
      {.name = "--output",
       .value = &options.output,
       .takes = "FILE",
       .group = kOutput,
       .text = "a file, or - for standard output"}};
}

}  // namespace

std::vector<CommandEntry> ga2_entries() {
  return {
      command_entry<Ga2CompileOptions>("compile", "a graph to a program", run_ga2_compile,
                                       "capra ga2 compile attention.json --output attention.hex",
                                       compile_options),
      command_entry<Ga2RunOptions>("run", "a graph on the simulated chip", run_ga2_run,
                                   "capra ga2 run attention.json --trace", run_options),
      command_entry<Ga2ExplainOptions>(
          "explain", "what the compiler decides, pass by pass", run_ga2_explain,
          "capra ga2 explain attention.json --output pictures", explain_options),
      command_entry<Ga2TextOptions>(
          "asm", "a listing to words", run_ga2_asm,
          "capra ga2 asm attention.lst --output attention.hex",
          [](Ga2TextOptions& options) { return text_options(options, "a listing"); }),
      command_entry<Ga2TextOptions>(
          "disasm", "words to a listing", run_ga2_disasm, "capra ga2 disasm attention.hex",
          [](Ga2TextOptions& options) {
            return text_options(options, "words as hexadecimal digits, an instruction a line");
          }),
  };
}

}  // namespace capra::driver
