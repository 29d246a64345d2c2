// The document, then the options over it.
#include "tools/capra/ga2/request.h"

#include <fmt/format.h>

#include <cstdio>

#include "capra/base/number_text.h"
#include "capra/targets/ga2/program_json.h"

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

}  // namespace

Result<ga2::CompileRequest> open_request(const Ga2Options& options) {
  CAPRA_ASSIGN(const Json document, read_json_file(options.file));
  CAPRA_ASSIGN(ga2::CompileRequest request, ga2::read_request(document, options.file));
  if (!options.calibrate.empty()) {
    CAPRA_ASSIGN(const Json samples, read_json_file(options.calibrate));
    CAPRA_ASSIGN(request.calibration, ga2::read_samples(samples, options.calibrate));
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
      program.instructions.size(), ga2::program_cost(program).total, program.scratchpad_high,
      ga2::kScratchpadWords, program.external_words, ga2::kExternalWords);
}

}  // namespace capra::driver
