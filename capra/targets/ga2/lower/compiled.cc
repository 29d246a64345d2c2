// Graph, samples, program; then what the rounding to levels does, tensor by tensor and on the
// whole.
#include "capra/targets/ga2/lower/compiled.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capra/base/number_text.h"
#include "capra/passes/rewrite_forms.h"
#include "capra/runtime/stages.h"
#include "capra/targets/ga2/isa/program_check.h"
#include "capra/targets/ga2/network_json.h"
#include "capra/targets/ga2/sim/run.h"
#include "capra/targets/ga2/target.h"

namespace capra::ga2 {
namespace {

struct Calibration {
  std::vector<Sample> samples;
  CompileOptions options;
};

Result<Calibration> read_calibration(std::string_view target, const std::string& path) {
  if (path.empty()) {
    return fail(
        "calibration-missing",
        fmt::format("target {} chooses the scales of its integers by samples, and none were given",
                    target),
        {}, "give --calibrate FILE: JSON with `calib`, a list of {input: rows}");
  }
  CAPRA_ASSIGN(const Json document, read_json_file(path));
  Calibration calibration;
  CAPRA_ASSIGN(SampleSet samples, read_samples(document, path));
  calibration.samples = std::move(samples.calibration);
  CAPRA_ASSIGN(calibration.options, read_options(document, path));
  return calibration;
}

int64_t note_tensors(std::string_view target, const Program& program, Lowered& lowered,
                     size_t samples) {
  int64_t noted = 0;
  for (NodeIndex i = 0; i < program.network.size(); ++i) {
    const NetworkNode& tensor = program.network.node(i);
    const double off = levels_off(tensor.op);
    if (off == 0) continue;
    Node& node = lowered.graph.node(lowered.origins[static_cast<size_t>(i)]);
    const double scale = program.scale(i);
    const std::string form = form_text(node);
    node.notes.push_back(
        {"legalizedFrom", fmt::format("{} in {}", form, dtype_name(node.type.dtype))});
    node.notes.push_back(
        {"legalizedTo", fmt::format("{} in levels of {} bits", form, tensor.bits)});
    node.notes.push_back({"maxAbsError", off * scale});
    node.notes.push_back(
        {"reason", fmt::format("target {} computes in integers: {} a level, chosen from {} "
                               "samples; what lies beyond saturates",
                               target, number_text(scale), samples)});
    ++noted;
  }
  return noted;
}

Result<double> error_on(const Program& program, std::span<const Sample> samples) {
  double most = 0;
  for (const Sample& sample : samples) {
    CAPRA_ASSIGN(const Run ran, run(program, sample));
    most = std::max(most, relative_error(program, ran, sample));
  }
  return most;
}

Status run_passes_on_program(const Target& target, const std::string& name,
                             const WriteOptions& options, PassContext& context, Program& program) {
  using Instructions = std::vector<Instruction>;
  const PassStage<Instructions, ProgramPass> stage{
      .name = {},
      .subject = name,
      .run = nullptr,
      .verify = [&](const Instructions& now) { return check_program(now, program.external_words); },
      .size = [](const Instructions& now) { return static_cast<int64_t>(now.size()); },
      .list_of = nullptr};
  CAPRA_ASSIGN(program.instructions,
               run_program_passes(target, kDialect, program.instructions, stage, context,
                                  options.verify_each, options.program_passes));
  return check_program(program.instructions, program.external_words);
}

}  // namespace

Result<CompiledGraph> compile_graph(const Target& target, const Graph& graph,
                                    const Parameters& parameters, const WriteOptions& options,
                                    bool optimize) {
  const auto granularity = target.optimizer.granularity;
  if (granularity != nullptr && !granularity().kept.empty()) {
    return fail(
        "target-keeps-ops",
        fmt::format("target {} keeps ops whole, and the chip's units are fixed", target.name), {},
        "leave the granularity of the target out");
  }
  CompiledGraph compiled;
  CAPRA_ASSIGN(const Graph legal, capra::optimize(target, graph, parameters,
                                                  {.optimize = optimize,
                                                   .report = &compiled.report,
                                                   .verify_each = options.verify_each}));
  CAPRA_ASSIGN(compiled.lowered, lower(legal, parameters, target.name));
  CAPRA_ASSIGN(Calibration calibration, read_calibration(target.name, options.calibration));
  compiled.samples = std::move(calibration.samples);
  compiled.options = std::move(calibration.options);
  CAPRA_ASSIGN(compiled.program,
               compile(compiled.lowered.network, compiled.samples, compiled.options));
  PassContext context{.target = target.name, .parameters = &parameters};
  CAPRA_TRY(run_passes_on_program(target, graph.name(), options, context, compiled.program));
  compiled.report.append(std::move(context.report));
  CAPRA_ASSIGN(compiled.error, error_on(compiled.program, compiled.samples));
  const int64_t noted =
      note_tensors(target.name, compiled.program, compiled.lowered, compiled.samples.size());
  compiled.report.lines.push_back(fmt::format(
      "INT8_LEGALIZED graph={}: {} tensors in levels of 8 or 4 bits, scales from {} samples "
      "[target {} computes in integers] relError={:.4g}",
      graph.name(), noted, compiled.samples.size(), target.name, compiled.error));
  for (const std::string& note : compiled.program.plan.notes) {
    compiled.report.lines.push_back(fmt::format("INT8_SATURATES graph={}: {}", graph.name(), note));
  }
  return compiled;
}

}  // namespace capra::ga2
