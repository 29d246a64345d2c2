// Files in a temporary folder, and the two tools called on them.
#include "capra/targets/stablehlo/iree/program.h"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "capra/base/new_file.h"
#include "capra/base/new_folder.h"
#include "capra/base/subprocess.h"
#include "capra/ops/argmax.h"
#include "capra/passes/match.h"
#include "capra/passes/pass.h"
#include "capra/targets/stablehlo/iree/tools.h"
#include "capra/targets/stablehlo/write.h"

namespace capra::iree {
namespace {

constexpr const char* kCompiledFile = "model.vmfb";

std::string type_text(const InputRef& input) {
  std::string text;
  for (const int64_t extent : input.sizes) text += fmt::format("{}x", extent);
  return text + stablehlo::runner_dtype_text(input.dtype);
}

size_t input_bytes(const InputRef& input) {
  size_t bytes = dtype_bytes(input.dtype);
  for (const int64_t extent : input.sizes) bytes *= static_cast<size_t>(extent);
  return bytes;
}

// A workspace's files have names of their own, as runs may overlap.
struct State : public Workspace::State {
  std::string prefix;
  int threads = 1;
};

// Files of one run. There is none before it, so that nothing old is read, and none after it.
class RunFiles {
 public:
  RunFiles() = default;
  RunFiles(const RunFiles&) = delete;
  RunFiles& operator=(const RunFiles&) = delete;
  ~RunFiles() {
    for (const std::string& path : paths_) remove(path);
  }

  std::string add(std::string path) {
    remove(path);
    paths_.push_back(path);
    return path;
  }

 private:
  static void remove(const std::string& path) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }

  std::vector<std::string> paths_;
};

// What must not be empty when a program runs, which would not notice.
struct Searched {
  std::string symbol;  ///< the extent of an axis that argmax searches
  std::string label;
};

void collect_searched(const Graph& graph, std::vector<Searched>& searched) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (node.body != nullptr) collect_searched(*node.body, searched);
    if (node.op != &kArgmax) continue;
    const Shape& shape = graph.node(node.operands[0]).type.shape;
    const Dim& dim = shape[position_of(node.attrs_as<ArgmaxAttrs>().axis, shape.rank())];
    if (!dim.is_static()) searched.push_back({dim.symbol(), node_label(graph, id)});
  }
}

class Program : public Executable {
 public:
  Program(const Graph& graph, Tools tools, NewFolder folder, double seconds)
      : Executable(input_ports(graph), output_ports(graph)),
        tools_(std::move(tools)),
        folder_(std::move(folder)),
        function_(graph.name()),
        seconds_(seconds) {
    collect_searched(graph, searched_);
  }

  Status compile(std::vector<std::string> flags) const {
    flags.push_back(folder_.file(stablehlo::kProgramFile));
    flags.insert(flags.end(), {"-o", folder_.file(kCompiledFile)});
    CAPRA_ASSIGN(const ProgramOutcome outcome, call(tools_.compiler, std::move(flags)));
    if (outcome.exit_code == 0) return {};
    return fail("tool-compile-failed",
                fmt::format("{} {} ends with {}: {}", kCompilerName, tools_.version,
                            outcome.exit_code, first_words(outcome.errors, folder_.file(""))),
                function_,
                "write the program with 'capra export' and compile it by hand to see all that it "
                "says");
  }

  Workspace make_workspace(std::shared_ptr<ThreadPool> pool) const override {
    auto state = std::make_unique<State>();
    state->prefix = fmt::format("run{}", workspaces_.fetch_add(1));
    state->threads = pool == nullptr ? 1 : pool->threads();
    return Workspace(std::move(state));
  }

  using Executable::run;
  Status run(Workspace& workspace, std::span<const InputRef> inputs,
             std::span<const OutputRef> outputs) const override {
    CAPRA_ASSIGN(const DimBindings sizes, bind(inputs));
    for (const Searched& one : searched_) {
      const auto size = sizes.find(one.symbol);
      if (size == sizes.end() || size->second != 0) continue;
      return fail("operand-shape", "the searched axis of argmax is empty", one.label,
                  "give inputs with at least one element there");
    }
    CAPRA_TRY(check_output_count(outputs));
    const State& state = static_cast<State&>(workspace.state());
    std::vector<std::string> arguments = fixed_arguments(state.threads);
    RunFiles files;
    for (size_t index = 0; index < inputs.size(); ++index) {
      const std::string path =
          files.add(folder_.file(fmt::format("{}_in{}.bin", state.prefix, index)));
      CAPRA_TRY(write_file(
          path, {reinterpret_cast<const char*>(inputs[index].data), input_bytes(inputs[index])}));
      arguments.push_back(fmt::format("--input={}=@{}", type_text(inputs[index]), path));
    }
    std::vector<std::string> results;
    results.reserve(outputs.size());
    for (size_t index = 0; index < outputs.size(); ++index) {
      results.push_back(files.add(folder_.file(fmt::format("{}_out{}.bin", state.prefix, index))));
      arguments.push_back("--output=@" + results.back());
    }
    CAPRA_ASSIGN(const ProgramOutcome outcome, call(tools_.runner, std::move(arguments)));
    if (outcome.exit_code != 0) return run_failure(outcome);
    for (size_t index = 0; index < outputs.size(); ++index) {
      CAPRA_TRY(read_output(results[index], this->outputs()[index], outputs[index]));
    }
    return {};
  }

 private:
  Result<ProgramOutcome> call(const std::string& tool, std::vector<std::string> arguments) const {
    return run_program({.path = tool,
                        .arguments = std::move(arguments),
                        .environment = {"TMPDIR=" + folder_.file("")},
                        .seconds = seconds_});
  }

  std::vector<std::string> fixed_arguments(int threads) const {
    std::vector<std::string> arguments = {"--module=" + folder_.file(kCompiledFile),
                                          "--function=" + function_};
    if (threads == 1) {
      arguments.emplace_back("--device=local-sync");
    } else {
      arguments.emplace_back("--device=local-task");
      arguments.push_back(fmt::format("--task_topology_group_count={}", threads));
    }
    const std::string archive = folder_.file(stablehlo::kArchiveFile);
    if (file_exists(archive)) {
      arguments.push_back(fmt::format("--parameters={}={}", stablehlo::kArchiveScope, archive));
    }
    return arguments;
  }

  Failure run_failure(const ProgramOutcome& outcome) const {
    const std::string words = first_words(outcome.errors, folder_.file(""));
    // What a program of another version meets: its imports or its format are not known.
    const bool other_version = words.find("signature mismatch") != std::string::npos ||
                               words.find("bytecode version") != std::string::npos;
    if (other_version) {
      return fail("tool-versions-differ",
                  fmt::format("{} does not take what {} {} writes: {}", kRunnerName, kCompilerName,
                              tools_.version, words),
                  tools_.runner, kInstallLine);
    }
    return fail("tool-run-failed",
                fmt::format("{} ends with {}: {}", kRunnerName, outcome.exit_code, words),
                function_,
                words.find("RESOURCE_EXHAUSTED") != std::string::npos
                    ? "check that there is memory for the values of the program"
                    : "write the program with 'capra export' and run it by hand to see all that it "
                      "says");
  }

  // The runtime writes the values as they lie in memory.
  Status read_output(const std::string& path, const Port& port, const OutputRef& output) const {
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(output.data), static_cast<std::streamsize>(output.bytes));
    const bool whole = static_cast<size_t>(file.gcount()) == output.bytes;
    if (whole && output.dtype == port.type.dtype &&
        file.peek() == std::ifstream::traits_type::eof()) {
      return {};
    }
    std::error_code ignored;
    const std::uintmax_t bytes = std::filesystem::file_size(path, ignored);
    if (ignored) {
      return fail("tool-run-failed",
                  fmt::format("{} wrote nothing for output '{}'", kRunnerName, port.name),
                  function_);
    }
    return output_size_failure(port, bytes, output);
  }

  Tools tools_;
  NewFolder folder_;
  std::string function_;
  double seconds_;
  std::vector<Searched> searched_;
  mutable std::atomic<int> workspaces_{0};
};

Result<NewFolder> temporary_folder() {
  std::error_code error;
  const std::filesystem::path place = std::filesystem::temp_directory_path(error);
  if (error) {
    return fail("file-unwritable", error.message(), "TMPDIR", "name a folder in TMPDIR");
  }
  // The compiler calls its linker through a shell, with paths as they are.
  const std::filesystem::path plain = stablehlo::is_shell_word(place.string()) ? place : "/tmp";
  return NewFolder::create_temporary((plain / "capra-iree").string());
}

}  // namespace

Result<std::unique_ptr<Executable>> compile(const Target& target, const Graph& graph,
                                            const Parameters& parameters,
                                            const CompileOptions& options) {
  CAPRA_ASSIGN(Tools tools, find_tools(options.tools.folder));
  CAPRA_ASSIGN(NewFolder folder, temporary_folder());
  CAPRA_ASSIGN(WrittenProgram written,
               write_program(target, graph, parameters, options.program, folder));
  if (options.report != nullptr) *options.report = std::move(written.passes);
  auto program =
      std::make_unique<Program>(graph, std::move(tools), std::move(folder), options.tools.seconds);
  CAPRA_TRY(program->compile(std::move(written.flags)));
  return std::unique_ptr<Executable>(std::move(program));
}

}  // namespace capra::iree
