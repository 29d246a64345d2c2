// What a subcommand is to the driver: options filled in by the command line, and a function that
// runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "capra/base/result.h"
#include "capra/ir/parameters.h"
#include "capra/runtime/target.h"
#include "models/embedding_model.h"

namespace capra::driver {

/// Exit codes, a contract.
enum Exit : int {
  kDone = 0,      ///< ran, and all is well
  kNo = 1,        ///< ran, and the answer is no: a gate failed, something differed
  kBad = 2,       ///< the request or its input was bad
  kInternal = 70  ///< a bug
};

/// What every command has.
struct OutputOptions {
  bool json = false;
  bool quiet = false;
};

/// A command that has to do with targets: those built in, and those of --plugin.
struct TargetOptions : OutputOptions {
  std::vector<std::string> plugins;    ///< --plugin: shared libraries
  std::vector<const Target*> targets;  ///< all there are, sorted by name
};

/// A command that loads a model.
struct ModelOptions : TargetOptions {
  std::string model;
  EmbeddingOptions embedding;
};

/// Where texts come from.
struct TextSource {
  std::vector<std::string> texts;  ///< --text, in order
  std::string input;               ///< --input: a file, or `-`; empty: none
  std::string option = "--input";  ///< that named the file
  std::string format;              ///< --input-format: lines or jsonl; empty: by suffix
  bool token_ids = false;          ///< rows of ids instead of text
};

struct EmbedOptions : ModelOptions {
  TextSource source;
  std::string output = "-";
  std::string format = "jsonl";
};

struct InspectOptions : ModelOptions {};

struct ListTargetsOptions : TargetOptions {
  ToolOptions tools;
};

struct VerifyOptions : ModelOptions {
  std::string texts;    ///< --texts: a file; empty: the built-in set
  std::string against;  ///< --against: safetensors; empty: none
  std::optional<double> max_error;
  bool budget = false;
};

struct GraphOptions : ModelOptions {
  std::string stage = "graph";
  std::string format = "text";
  std::string form = "packed";    ///< --sequence: packed or single
  std::optional<int64_t> length;  ///< --length: a fixed number of tokens
  bool states = false;
  bool verify_each = false;
};

struct OptOptions : OutputOptions {
  std::string file;
  std::vector<std::string> passes;
  bool print_after_all = false;
  bool verify_each = false;
};

/// What is stated about the ops of a graph before anything else is done with it.
struct PolicyOptions {
  std::vector<std::string> dtype_policy;  ///< --dtype-policy: OP=DTYPE, SCOPE:OP=DTYPE
  std::vector<std::string> schedule;      ///< --schedule: OP=DIM, OP=DIM+DIM
};

struct RunOptions : TargetOptions {
  std::string file;
  std::vector<std::string> inputs;  ///< name=FILE
  std::string parameters;           ///< a safetensors file; empty: none
  std::string target = "cpu";
  std::string output;  ///< a safetensors file; empty: print
  std::vector<std::string> approximate;
  WriteOptions write;
  ToolOptions tools;
  int threads = 0;
  PolicyOptions policies;
};

struct ExportOptions : TargetOptions {
  std::string model;       ///< a model folder, or FILE.tir
  std::string parameters;  ///< a safetensors file with those of FILE.tir; empty: none
  std::string target = "stablehlo";
  std::string output;              ///< the folder to make
  std::string length = "dynamic";  ///< of the token axis: a number, or dynamic
  std::string outputs = "hidden";  ///< what a model's program ends in: hidden, pooled, embedding
  std::string constants;  ///< inline, external or threshold:BYTES; empty: as the target has it
  WriteOptions write;
  std::vector<std::string> approximate;
  PolicyOptions policies;
  bool check = false;   ///< `model` is a folder that was exported; nothing is written
  std::string archive;  ///< --archive: to be checked in place of the folder's own
};

struct BenchOptions : ModelOptions {
  std::vector<std::string> workloads;  ///< names; empty: all
  double seconds = 2;                  ///< a workload and thread count
  std::vector<int> thread_counts;
};

struct DocsOptions : OutputOptions {
  std::string output = "docs/generated";
  std::string conformance;  ///< --conformance: a file of results; empty: none
};

struct ExplainOptions : OutputOptions {
  std::string code;
};

// What a command needs before it runs: its targets, those of --plugin included.
inline Status load_targets(OutputOptions&) { return {}; }
Status load_targets(TargetOptions& options);
Status load_targets(ModelOptions& options);

/// Runs a command. With plugins, an exception that comes out of it is `plugin-failed`; those that
/// the driver knows, `Error` and a lack of memory, are handed on.
inline Result<int> guarded(const OutputOptions&, const std::function<Result<int>()>& run) {
  return run();
}
Result<int> guarded(const TargetOptions& options, const std::function<Result<int>()>& run);

/// The parameters in a safetensors file; none for an empty path.
Result<Parameters> read_parameters(const std::string& path);

/// Each runs one command and returns its exit code, or what was wrong.
Result<int> run_embed(const EmbedOptions& options);
Result<int> run_inspect(const InspectOptions& options);
Result<int> run_verify(const VerifyOptions& options);
Result<int> run_graph(const GraphOptions& options);
Result<int> run_opt(const OptOptions& options);
Result<int> run_run(const RunOptions& options);
Result<int> run_export(const ExportOptions& options);
Result<int> run_ops(const TargetOptions& options);
Result<int> run_targets(const ListTargetsOptions& options);
Result<int> run_docs(const DocsOptions& options);
Result<int> run_explain(const ExplainOptions& options);
Result<int> run_bench(const BenchOptions& options);

}  // namespace capra::driver
