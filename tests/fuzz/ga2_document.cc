// Any bytes as a graph for GA-2: refused with a code, or compiled to a legal program whose outputs
// are the integers of the graph's meaning; then everything that is printed and drawn of it.
#include "capra/targets/ga2/explain/drawings.h"
#include "capra/targets/ga2/explain/walk.h"
#include "capra/targets/ga2/network_json.h"
#include "capra/targets/ga2/program_json.h"
#include "capra/targets/ga2/sim/run.h"

namespace {

template <class T>
bool is_named(const capra::Result<T>& result) {
  return result.ok() || capra::find_diagnostic_code(result.error().code) != nullptr;
}

// The fast schedule compiles what the author's does, and has the same outputs.
void check_fast_schedule(const capra::ga2::CompileRequest& request,
                         const capra::ga2::Sample& sample,
                         const std::vector<capra::ga2::Matrix<int32_t>>& integers) {
  using namespace capra;
  using namespace capra::ga2;
  CompileOptions options = request.options;
  options.schedule = Schedule::Fast;
  options.reuse = true;
  const Result<Program> program = compile(request.network, request.calibration, options);
  CAPRA_CHECK(program.ok());
  const Result<Run> ran = run(*program, sample);
  CAPRA_CHECK(ran.ok());
  for (const ExternalRegion& region : program->external) {
    if (program->network.node(region.node).op != NodeOp::Output) continue;
    CAPRA_CHECK(ran->outputs.at(region.name).integers ==
                integers[static_cast<size_t>(region.node)]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace capra;
  using namespace capra::ga2;
  const auto json = Json::parse({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!json.ok()) return 0;
  CAPRA_CHECK(is_named(read_samples(*json, "fuzz")));
  Result<CompileRequest> request = read_request(*json, "fuzz");
  CAPRA_CHECK(is_named(request));
  if (!request.ok()) return 0;
  // Large products take long, and are refused after that.
  int64_t steps = 0;
  for (const NetworkNode& node : request->network.nodes()) {
    const int64_t inner =
        node.op == NodeOp::Matmul ? request->network.node(node.operands[0]).shape.columns : 1;
    steps += node.shape.words() * inner;
  }
  if (steps > 1 << 20) return 0;
  const Result<Program> program = compile(request->network, request->calibration, request->options);
  CAPRA_CHECK(is_named(program));
  if (!program.ok()) return 0;
  const Sample sample = request->test ? *request->test : request->calibration[0];
  const Result<Run> ran = run(*program, sample);
  CAPRA_CHECK(is_named(ran));
  if (!ran.ok()) {
    CAPRA_CHECK(ran.error().code == "sample-invalid");
    return 0;
  }
  const std::vector<Matrix<int32_t>> integers = interpret(*program, sample);
  for (const ExternalRegion& region : program->external) {
    if (program->network.node(region.node).op != NodeOp::Output) continue;
    CAPRA_CHECK(ran->outputs.at(region.name).integers ==
                integers[static_cast<size_t>(region.node)]);
  }
  check_fast_schedule(*request, sample, integers);
  // What is said of it and drawn.
  CompileOptions kept = request->options;
  kept.reuse = false;
  const Result<Program> without_reuse = compile(request->network, request->calibration, kept);
  request->test = sample;
  CAPRA_CHECK(compiled_json(*program, without_reuse, request->test).ok());
  CAPRA_CHECK(walk(*request, *program, without_reuse).ok());
  for (const auto draw : {memory_map_svg, tiles_svg, scales_svg}) {
    CAPRA_CHECK(draw(*program).ends_with("</svg>\n"));
  }
  return 0;
}
