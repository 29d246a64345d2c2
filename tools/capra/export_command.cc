// capra export: writes a graph or a model's encoder as a program of another machine, in a folder.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "capra/base/new_file.h"
#include "capra/base/new_folder.h"
#include "capra/base/number_text.h"
#include "capra/io/checkpoint.h"
#include "capra/io/hf_config.h"
#include "capra/ir/text.h"
#include "capra/ir/verify.h"
#include "capra/ops/all_ops.h"
#include "capra/passes/approximate.h"
#include "capra/runtime/target.h"
#include "models/encoder.h"
#include "models/weights.h"
#include "tools/capra/command.h"
#include "tools/capra/export_report.h"
#include "tools/capra/output.h"
#include "tools/capra/policies.h"

namespace capra::driver {
namespace {

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

// None where nothing was said.
Result<std::optional<ConstantPlacement>> placement(const std::string& constants) {
  constexpr std::string_view kThreshold = "threshold:";
  if (constants.empty()) return std::optional<ConstantPlacement>();
  if (constants == "inline") return std::optional(ConstantPlacement{});
  if (constants == "external") return std::optional(ConstantPlacement{.external_from = 0});
  if (constants.starts_with(kThreshold)) {
    const auto bytes = parse_i64(std::string_view(constants).substr(kThreshold.size()));
    if (bytes && *bytes >= 0) return std::optional(ConstantPlacement{.external_from = *bytes});
  }
  return fail("option-invalid", "there is no place for constants '" + constants + "'",
              "--constants", "use inline, external or threshold:BYTES");
}

}  // namespace

Result<int> run_export(const ExportOptions& options) {
  CAPRA_ASSIGN(const Target* target, find_target(options.targets, options.target));
  CAPRA_TRY(check_writes(*target));
  WriteOptions write = options.write;
  CAPRA_ASSIGN(write.constants, placement(options.constants));
  CAPRA_ASSIGN(NewFolder folder, NewFolder::create(options.output));
  const bool is_text = options.model.ends_with(".tir");
  CAPRA_ASSIGN(Subject subject, is_text ? open_text(options) : open_model(options));
  std::vector<std::string> lines;
  CAPRA_ASSIGN(subject.graph,
               approximate(std::move(subject.graph), options.approximate, target->name, &lines));
  PassReport stated;
  CAPRA_ASSIGN(subject.graph,
               apply_policies(std::move(subject.graph), options.policies, target->name, stated));
  CAPRA_ASSIGN(WrittenProgram written,
               write_program(*target, subject.graph, subject.parameters, write, folder));
  std::vector<Rewrite>& rewrites = written.passes.rewrites;
  rewrites.insert(rewrites.begin(), stated.rewrites.begin(), stated.rewrites.end());
  CAPRA_ASSIGN(const Json report, export_report(*target, subject.graph, written, folder));
  CAPRA_TRY(write_file(folder.file("report.json"), report.text(2) + "\n"));
  CAPRA_TRY(folder.finish());

  if (options.json) CAPRA_TRY(print_result(report.text(2) + "\n"));
  if (!options.quiet) {
    lines.insert(lines.end(), stated.lines.begin(), stated.lines.end());
    lines.insert(lines.end(), written.passes.lines.begin(), written.passes.lines.end());
    for (const std::string& line : lines) fmt::print(stderr, "note: {}\n", line);
    if (!options.json) fmt::print(stderr, "wrote {}\n", options.output);
  }
  return kDone;
}

}  // namespace capra::driver
