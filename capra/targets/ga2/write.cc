// One file after the other; all that can be refused is, before the first.
#include "capra/targets/ga2/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capra/targets/ga2/isa/hex_text.h"
#include "capra/targets/ga2/isa/listing.h"
#include "capra/targets/ga2/lower/compiled.h"
#include "capra/targets/ga2/network_json.h"
#include "capra/targets/ga2/program_json.h"
#include "capra/targets/ga2/sim/run.h"

namespace capra::ga2 {
namespace {

constexpr const char* kWords = "program.hex";
constexpr const char* kListing = "program.lst";
constexpr const char* kMemory = "memory.hex";
constexpr const char* kLayout = "layout.json";
constexpr const char* kNetwork = "network.json";

// External memory before a run, the inputs zeros.
Result<std::string> memory_text(const Program& program) {
  CAPRA_ASSIGN(const std::vector<uint32_t> words,
               external_image(program, zero_sample(program.network)));
  return memory_hex_text(words);
}

// Where a runner puts inputs and finds outputs, and what a level of each stands for.
Json layout_json(const Program& program) {
  Json regions = Json::array();
  for (const ExternalRegion& one : program.external) {
    const NetworkNode& node = program.network.node(one.node);
    const bool indices =
        node.op == NodeOp::Output && program.network.node(node.operands[0]).op == NodeOp::Argmax;
    Json region = Json::object();
    region.set("name", one.name).set("kind", node_op_name(node.op));
    region.set("address", one.address).set("words", one.words);
    region.set("rows", node.shape.rows).set("columns", node.shape.columns);
    region.set("bits", node.op == NodeOp::Weight ? Json(node.bits) : Json(indices ? 32 : 8));
    region.set("scale", indices ? Json() : Json(program.scale(one.node)));
    regions.push(std::move(region));
  }
  Json document = Json::object();
  document.set("scratchpad_words", program.scratchpad_high);
  document.set("external_words", program.external_words);
  return document.set("external", std::move(regions));
}

}  // namespace

Status check_options(const Target& target, const WriteOptions& options) {
  const auto unknown = [&](std::string_view option, std::string_view what, std::string_view why) {
    return fail("option-invalid",
                fmt::format("programs of target {} know no {}: {}", target.name, what, why),
                std::string(option), "leave it out");
  };
  if (!options.keep_fused.empty()) {
    return unknown("--keep-fused", "ops that are kept whole", "units are fixed");
  }
  if (!options.without.empty()) {
    return unknown("--no-" + options.without.front(), "extensions", "there are no others");
  }
  constexpr std::string_view kBeside = "data beside the program";
  constexpr std::string_view kInside = "weights stand in its memory";
  if (!options.archive.empty()) return unknown("--weights", kBeside, kInside);
  if (options.constants && options.constants->external_from) {
    return unknown("--constants", kBeside, kInside);
  }
  if (!options.flags.empty()) {
    return unknown("--flag", "compiler flags", "nothing compiles them further");
  }
  return {};
}

Result<WrittenProgram> write(const Target& target, const Graph& graph, const Parameters& parameters,
                             const WriteOptions& options, NewFolder& folder) {
  CAPRA_TRY(check_options(target, options));
  CAPRA_ASSIGN(CompiledGraph compiled, compile_graph(target, graph, parameters, options));
  const Program& program = compiled.program;
  CAPRA_ASSIGN(const std::string memory, memory_text(program));
  CAPRA_TRY(folder.write(kWords, "the program, an instruction of 128 bits a line",
                         hex_text(program.instructions)));
  CAPRA_TRY(folder.write(kListing, "the same as text", listing_text(program.instructions)));
  CAPRA_TRY(
      folder.write(kMemory, "external memory with the weights, a word of 32 bits a line", memory));
  CAPRA_TRY(folder.write(kLayout, "where inputs, weights and outputs lie, and their scales",
                         layout_json(program).text(2) + "\n"));
  const size_t samples = compiled.samples.size();
  const Json document = request_json({.network = program.network,
                                      .calibration = compiled.samples,
                                      .test = compiled.samples.front(),
                                      .options = compiled.options});
  CAPRA_TRY(folder.write(kNetwork, "the chip's graph, with the samples that chose the scales",
                         document.text() + "\n"));
  WrittenProgram written;
  const bool is_as_compiled = std::ranges::none_of(
      compiled.report.changes, [](const PassChange& one) { return one.stage == "program"; });
  written.approximations = approximations(compiled.lowered.graph);
  written.passes = std::move(compiled.report);
  written.run = {fmt::format("capra ga2 disasm {}", kWords),
                 fmt::format("capra ga2 run {}", kNetwork)};
  written.run_note = fmt::format(
      "The second line compiles the graph {} and runs it on the simulator, "
      "on the first sample;\n`--input NAME=FILE` gives other inputs. To run the words elsewhere: "
      "fill external memory with `{}`, put the\ninputs where `{}` says, rounded to levels (value / "
      "scale, to the nearest, halves away from zero, at most 127),\nand multiply the levels of the "
      "outputs by their scales.\n",
      is_as_compiled ? "to the same program again"
                     : "again, without the program passes that changed this one,",
      kMemory, kLayout);
  written.measured.push_back(
      {fmt::format("relative error of the outputs on the {} samples, the largest", samples),
       compiled.error});
  return written;
}

}  // namespace capra::ga2
