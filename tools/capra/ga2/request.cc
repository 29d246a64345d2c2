// The document, then the options over it.
#include "tools/capra/ga2/request.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "capra/base/buffer.h"
#include "capra/base/number_text.h"
#include "capra/ir/text.h"
#include "capra/ir/verify.h"
#include "capra/ops/all_ops.h"
#include "capra/targets/ga2/lower/lower.h"

namespace capra::driver {
namespace {

Status add_range(const std::string& text, ga2::TaggedRanges& ranges) {
  const size_t equals = text.find('=');
  const std::optional<double> value =
      equals == std::string::npos ? std::nullopt : parse_f64(text.substr(equals + 1));
  if (!value || equals == 0) {
    return fail("option-invalid", "'" + text + "' is no tag with a range", "--range",
                "write TAG=V, such as keys=3.5");
  }
  ranges[text.substr(0, equals)] = *value;
  return {};
}

Result<ga2::Schedule> schedule_called(const std::string& name) {
  if (name == "author") return ga2::Schedule::Author;
  if (name == "fast") return ga2::Schedule::Fast;
  return fail("option-invalid", "there is no schedule '" + name + "'", "--schedule",
              "use author (the order of the graph) or fast");
}

// A graph as text, without samples.
Result<ga2::CompileRequest> lowered_request(const Ga2Options& options) {
  CAPRA_ASSIGN(const std::string text, read_file(options.file));
  CAPRA_ASSIGN(const Graph graph, parse_graph(text, all_ops(), options.file));
  CAPRA_TRY(verify(graph));
  CAPRA_ASSIGN(const Parameters parameters, read_parameters(options.parameters));
  CAPRA_ASSIGN(ga2::Lowered lowered, ga2::lower(graph, parameters));
  ga2::CompileRequest request;
  request.network = std::move(lowered.network);
  return request;
}

Result<ga2::CompileRequest> read_graph_file(const Ga2Options& options) {
  if (options.file.ends_with(".tir")) return lowered_request(options);
  if (!options.parameters.empty()) {
    return fail("option-invalid", "the graph has its weights in it", "--parameters",
                "give parameters with FILE.tir");
  }
  const Result<Json> document = read_json_file(options.file);
  if (!document.ok()) {
    Diagnostic found = document.error();
    if (found.code == "json-syntax") {
      found.help =
          "a graph is needed, as a JSON document or FILE.tir (docs/ga2.md); words run on the chip, "
          "hw/ga2/run.py";
    }
    return fail(std::move(found));
  }
  return ga2::read_request(*document, options.file);
}

}  // namespace

Result<ga2::CompileRequest> open_request(const Ga2Options& options) {
  CAPRA_ASSIGN(const ga2::Schedule schedule, schedule_called(options.schedule));
  CAPRA_ASSIGN(ga2::CompileRequest request, read_graph_file(options));
  request.options.schedule = schedule;
  if (!options.calibrate.empty()) {
    CAPRA_ASSIGN(const Json document, read_json_file(options.calibrate));
    CAPRA_ASSIGN(ga2::SampleSet samples, ga2::read_samples(document, options.calibrate));
    request.calibration = std::move(samples.calibration);
    if (samples.test) request.test = std::move(samples.test);
  }
  for (const std::string& range : options.ranges) {
    CAPRA_TRY(add_range(range, request.options.ranges));
  }
  if (options.no_reuse) request.options.reuse = false;
  return request;
}

Result<ga2::Program> compile_request(const ga2::CompileRequest& request) {
  return ga2::compile(request.network, request.calibration, request.options);
}

void print_notes(const ga2::Program& program, const OutputOptions& options) {
  if (options.quiet) return;
  for (const std::string& note : program.plan.notes) fmt::print(stderr, "note: {}\n", note);
}

std::string program_summary(const ga2::Program& program) {
  return fmt::format(
      "{} instructions, {} cycles; scratchpad {} of {} words, external memory {} of {} words",
      program.instructions.size(), ga2::cost(program.instructions).total, program.scratchpad_high,
      ga2::kScratchpadWords, program.external_words, ga2::kExternalWords);
}

}  // namespace capra::driver
