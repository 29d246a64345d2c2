// capra export: writes a graph or a model's encoder as a program of another machine, in a folder.
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "capra/base/new_file.h"
#include "capra/base/number_text.h"
#include "capra/base/version.h"
#include "capra/io/checkpoint.h"
#include "capra/io/hf_config.h"
#include "capra/io/json.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ir/verify.h"
#include "capra/ops/all_ops.h"
#include "capra/passes/approximate.h"
#include "capra/targets/stablehlo/emit.h"
#include "capra/targets/stablehlo/iree_flags.h"
#include "capra/targets/stablehlo/irpa.h"
#include "capra/targets/stablehlo/target.h"
#include "models/encoder.h"
#include "models/weights.h"
#include "tools/capra/command.h"
#include "tools/capra/output.h"

namespace capra::driver {
namespace {

constexpr const char* kProgramFile = "model.mlir";
constexpr const char* kArchiveFile = "model.irpa";
constexpr const char* kFlagsFile = "iree.flags";
constexpr const char* kReportFile = "report.json";

struct Subject {
  Graph graph;
  Parameters parameters;
};

Result<Subject> open_text(const ExportOptions& options) {
  if (options.length != "dynamic") {
    return fail("option-invalid", "graph text has its own shapes", "--length",
                "write the length into the graph");
  }
  CAPRA_ASSIGN(const std::string text, read_file(options.model));
  CAPRA_ASSIGN(Graph graph, parse_graph(text, all_ops(), options.model));
  CAPRA_TRY(verify(graph));
  CAPRA_ASSIGN(Parameters parameters, read_parameters(options.parameters));
  return Subject{std::move(graph), std::move(parameters)};
}

// The encoder alone: token ids in, the last hidden state out.
Result<Subject> open_model(const ExportOptions& options) {
  if (!options.parameters.empty()) {
    return fail("option-invalid", "a model folder has its own parameters", "--parameters",
                "leave the option out");
  }
  TraceOptions trace{.form = SequenceForm::Single};
  CAPRA_ASSIGN(const SentenceConfig sentence, read_sentence_config(options.model));
  CAPRA_ASSIGN(const ModelConfig config, ModelConfig::open_folder(sentence.transformer_folder));
  CAPRA_ASSIGN(const std::unique_ptr<Encoder> encoder, open_encoder(config));
  if (options.length != "dynamic") {
    const std::optional<int64_t> length = parse_i64(options.length);
    if (!length || *length < 1) {
      return fail("option-invalid", "'" + options.length + "' is no length", "--length",
                  "give a number of tokens, or dynamic");
    }
    if (*length > encoder->longest_sequence()) {
      return fail("max-length-out-of-range",
                  "a length of " + options.length + " tokens was asked for, the model has " +
                      number_text(encoder->longest_sequence()) + " positions",
                  "--length", "give a smaller length");
    }
    trace.length = *length;
  }
  Graph graph = encoder->trace(trace);
  CAPRA_ASSIGN(const Checkpoint checkpoint, Checkpoint::open_folder(sentence.transformer_folder));
  CAPRA_ASSIGN(Weights weights, load_weights(*encoder, graph, checkpoint));
  return Subject{std::move(graph), std::move(weights.parameters)};
}

Result<std::optional<int64_t>> external_from(const std::string& constants) {
  constexpr std::string_view kThreshold = "threshold:";
  if (constants == "inline") return std::optional<int64_t>();
  if (constants == "external") return std::optional<int64_t>(0);
  if (constants.starts_with(kThreshold)) {
    const auto bytes = parse_i64(std::string_view(constants).substr(kThreshold.size()));
    if (bytes && *bytes >= 0) return bytes;
  }
  return fail("option-invalid", "there is no place for constants '" + constants + "'",
              "--constants", "use inline, external or threshold:BYTES");
}

// A folder under a temporary name beside its own; without `finish` it is removed.
class NewFolder {
 public:
  static Result<NewFolder> create(const std::string& path) {
    std::string name = path;
    while (name.size() > 1 && name.ends_with('/')) name.pop_back();
    if (file_exists(name)) {
      return fail("output-exists", "there is something called so already", path,
                  "remove it, or name another folder");
    }
    std::string temporary = name + ".XXXXXX";
    if (::mkdtemp(temporary.data()) == nullptr) return unwritable(path, errno);
    return NewFolder(std::move(name), std::move(temporary));
  }
  NewFolder(NewFolder&& other) noexcept
      : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, {})) {}
  NewFolder& operator=(NewFolder&&) = delete;
  ~NewFolder() {
    std::error_code ignored;
    if (!temporary_.empty()) std::filesystem::remove_all(temporary_, ignored);
  }

  std::string file(std::string_view name) const { return temporary_ + "/" + std::string(name); }

  Status finish() {
    std::error_code error;
    // mkdtemp makes a folder for its owner alone.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    std::filesystem::permissions(temporary_, std::filesystem::perms(0777 & ~mask), error);
    if (!error) std::filesystem::rename(temporary_, path_, error);
    if (error) return unwritable(path_, error.value());
    temporary_.clear();
    return {};
  }

 private:
  NewFolder(std::string path, std::string temporary)
      : path_(std::move(path)), temporary_(std::move(temporary)) {}

  static Failure unwritable(const std::string& path, int error) {
    return fail("output-unwritable", std::strerror(error), path,
                "check the folder above it, its permissions and the free space");
  }

  std::string path_;
  std::string temporary_;  ///< empty when finished
};

Json port_json(const std::string& name, const TensorType& type) {
  Json row = Json::object();
  row.set("name", name).set("type", type.text());
  return row;
}

Json report_json(const Graph& graph, const stablehlo::Module& module, const PassReport& passes,
                 const std::vector<Approximation>& in_force) {
  Json document = Json::object();
  document.set("capra", version()).set("target", stablehlo::kTarget.name);
  document.set("function", graph.name());
  Json inputs = Json::array();
  for (const NodeId id : graph.inputs()) {
    inputs.push(port_json(graph.node(id).attrs_as<InputAttrs>().name, graph.node(id).type));
  }
  Json outputs = Json::array();
  for (const NodeId id : graph.outputs()) {
    outputs.push(port_json(graph.node(id).attrs_as<OutputAttrs>().name, graph.node(id).type));
  }
  Json parameters = Json::array();
  for (const stablehlo::Global& global : module.globals) {
    parameters.push(port_json(global.key, global.type));
  }
  Json composites = Json::array();
  for (size_t i = 1; i < module.functions.size(); ++i) composites.push(module.functions[i].name);
  Json approximations = Json::array();
  for (const Approximation& one : in_force) {
    Json row = Json::object();
    row.set("node", one.node).set("from", one.legalized_from).set("to", one.legalized_to);
    row.set("reason", one.reason).set("max_abs_error", one.max_abs_error);
    approximations.push(std::move(row));
  }
  Json rewrites = Json::array();
  for (const Rewrite& rewrite : passes.rewrites) {
    Json row = Json::object();
    row.set("pass", rewrite.pass).set("rule", rewrite.rule).set("node", rewrite.node);
    rewrites.push(row.set("note", rewrite.note));
  }
  document.set("inputs", std::move(inputs)).set("outputs", std::move(outputs));
  document.set("parameters", std::move(parameters)).set("composites", std::move(composites));
  document.set("approximations", std::move(approximations));
  document.set("rewrites", std::move(rewrites));
  return document;
}

Status add_artifact(Json& artifacts, const NewFolder& folder, const char* name) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(folder.file(name), error);
  if (error) return fail("file-unreadable", error.message(), folder.file(name));
  Json row = Json::object();
  artifacts.push(row.set("file", name).set("bytes", static_cast<int64_t>(bytes)));
  return {};
}

}  // namespace

Result<int> run_export(const ExportOptions& options) {
  CAPRA_ASSIGN(const Target* target, find_target(options.targets, options.target));
  if (resolved(*target).table != stablehlo::kTarget.table) {
    return fail("target-writes-nothing",
                "target " + options.target + " runs graphs and writes no program", "--target",
                "use stablehlo, or a target that derives from it and has its table");
  }
  PassReport passes;
  std::vector<Approximation> in_force;
  stablehlo::EmitOptions emit_options{.target = target,
                                      .keep_fused = options.keep_fused,
                                      .chlo = options.chlo,
                                      .report = &passes,
                                      .approximations = &in_force};
  CAPRA_ASSIGN(emit_options.external_from, external_from(options.constants));
  const bool is_text = options.model.ends_with(".tir");
  CAPRA_ASSIGN(Subject subject, is_text ? open_text(options) : open_model(options));
  std::vector<std::string> lines;
  CAPRA_ASSIGN(subject.graph,
               approximate(std::move(subject.graph), options.approximate, target->name, &lines));
  CAPRA_ASSIGN(const stablehlo::Module module,
               stablehlo::emit(subject.graph, subject.parameters, emit_options));

  lines.insert(lines.end(), passes.lines.begin(), passes.lines.end());
  CAPRA_ASSIGN(NewFolder folder, NewFolder::create(options.output));
  Json artifacts = Json::array();
  CAPRA_TRY(write_file(folder.file(kProgramFile), stablehlo::print_module(module)));
  CAPRA_TRY(add_artifact(artifacts, folder, kProgramFile));
  if (!module.globals.empty()) {
    CAPRA_TRY(stablehlo::write_irpa(folder.file(kArchiveFile), module.globals, subject.parameters));
    CAPRA_TRY(add_artifact(artifacts, folder, kArchiveFile));
  }
  CAPRA_TRY(write_file(folder.file(kFlagsFile), stablehlo::iree_compile_flags()));
  CAPRA_TRY(add_artifact(artifacts, folder, kFlagsFile));
  Json report = report_json(subject.graph, module, passes, in_force);
  report.set("artifacts", std::move(artifacts));
  CAPRA_TRY(write_file(folder.file(kReportFile), report.text(2) + "\n"));
  CAPRA_TRY(folder.finish());

  if (options.json) CAPRA_TRY(print_result(report.text(2) + "\n"));
  if (!options.quiet) {
    for (const std::string& line : lines) fmt::print(stderr, "note: {}\n", line);
    if (!options.json) fmt::print(stderr, "wrote {}\n", options.output);
  }
  return kDone;
}

}  // namespace capra::driver
