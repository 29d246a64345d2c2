// capra export: writes a graph or a model's encoder as a program of another machine, in a folder.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "capra/base/new_file.h"
#include "capra/base/new_folder.h"
#include "capra/base/number_text.h"
#include "capra/ir/text.h"
#include "capra/ir/verify.h"
#include "capra/ops/all_ops.h"
#include "capra/passes/approximate.h"
#include "capra/runtime/target.h"
#include "models/model_program.h"
#include "tools/capra/command.h"
#include "tools/capra/export_check.h"
#include "tools/capra/export_folder.h"
#include "tools/capra/export_report.h"
#include "tools/capra/output.h"
#include "tools/capra/policies.h"
#include "tools/capra/report_page.h"

namespace capra::driver {
namespace {

struct Subject {
  Graph graph;
  Parameters parameters;
  std::optional<ModelProgram> model;  ///< what else a model folder says
};

Result<Subject> open_text(const ExportOptions& options) {
  if (options.length != "dynamic") {
    return fail("option-invalid", "graph text has its own shapes", "--length",
                "write the length into the graph");
  }
  if (options.outputs != "hidden") {
    return fail("option-invalid", "graph text has its own outputs", "--outputs",
                "write the outputs into the graph");
  }
  CAPRA_ASSIGN(const std::string text, read_file(options.model));
  CAPRA_ASSIGN(Graph graph, parse_graph(text, all_ops(), options.model));
  CAPRA_TRY(verify(graph));
  CAPRA_ASSIGN(Parameters parameters, read_parameters(options.parameters));
  return Subject{std::move(graph), std::move(parameters), {}};
}

Result<Subject> open_model(const ExportOptions& options) {
  if (!options.parameters.empty()) {
    return fail("option-invalid", "a model folder has its own parameters", "--parameters",
                "leave the option out");
  }
  ModelProgramOptions asked;
  CAPRA_ASSIGN(asked.output, find_program_output(options.outputs));
  if (options.length != "dynamic") {
    asked.length = parse_i64(options.length);
    if (!asked.length || *asked.length < 1) {
      return fail("option-invalid", "'" + options.length + "' is no length", "--length",
                  "give a number of tokens, or dynamic");
    }
  }
  CAPRA_ASSIGN(ModelProgram program, open_model_program(options.model, asked));
  Graph graph = std::move(program.graph);
  Parameters parameters = std::move(program.parameters);
  return Subject{std::move(graph), std::move(parameters), std::move(program)};
}

// Of a folder or file, without what leads there.
std::string base_name(const std::string& path) {
  const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

// None where nothing was said.
Result<std::optional<ConstantPlacement>> placement(const std::string& constants) {
  constexpr std::string_view kThreshold = "threshold:";
  if (constants.empty()) return std::optional<ConstantPlacement>();
  if (constants == "inline") return std::optional(ConstantPlacement{});
  if (constants == "external") return std::optional(ConstantPlacement{.external_from = 0});
  if (constants.starts_with(kThreshold)) {
    const auto bytes = parse_i64(std::string_view(constants).substr(kThreshold.size()));
    if (bytes.value_or(-1) >= 0) return std::optional(ConstantPlacement{.external_from = bytes});
  }
  return fail("option-invalid", "there is no place for constants '" + constants + "'",
              "--constants", "use inline, external or threshold:BYTES");
}

}  // namespace

Result<int> run_export(const ExportOptions& options) {
  if (options.check) return check_export(options);
  if (options.output.empty()) {
    return fail("command-line", "--output is required", "capra export", "name the folder to make");
  }
  CAPRA_ASSIGN(const Target* target, find_target(options.targets, options.target));
  CAPRA_TRY(check_writes(*target));
  WriteOptions write = options.write;
  CAPRA_ASSIGN(write.constants, placement(options.constants));
  CAPRA_ASSIGN(NewFolder folder, NewFolder::create(options.output));
  const bool is_text = options.model.ends_with(".tir");
  CAPRA_ASSIGN(Subject subject, is_text ? open_text(options) : open_model(options));
  PassReport asked;
  CAPRA_ASSIGN(subject.graph,
               approximate(std::move(subject.graph), options.approximate, target->name, &asked));
  CAPRA_ASSIGN(subject.graph,
               apply_policies(std::move(subject.graph), options.policies, target->name, asked));
  CAPRA_ASSIGN(WrittenProgram written,
               write_program(*target, subject.graph, subject.parameters, write, folder));
  if (subject.model && options.outputs == "embedding" && !written.embed_script.empty()) {
    CAPRA_TRY(write_embed_script(*subject.model, subject.graph, written, folder));
  }
  CAPRA_TRY(folder.write("README.md", "this page",
                         export_readme(subject.graph, written, subject.model.has_value(), folder)));
  const Json report = export_report({.model = base_name(options.model),
                                     .target = *target,
                                     .graph = subject.graph,
                                     .asked = asked,
                                     .written = written,
                                     .folder = folder,
                                     .without = options.write.without});
  CAPRA_TRY(write_file(folder.file("report.json"), report.text(2) + "\n"));
  CAPRA_TRY(write_file(folder.file("report.html"), report_page(report, subject.graph)));
  CAPRA_TRY(folder.finish());

  if (options.json) CAPRA_TRY(print_result(report.text(2) + "\n"));
  if (!options.quiet) {
    asked.append(std::move(written.passes));
    for (const std::string& line : asked.lines) fmt::print(stderr, "note: {}\n", line);
    if (!options.json) fmt::print(stderr, "wrote {}\n", options.output);
  }
  return kDone;
}

}  // namespace capra::driver
