// capra ga2 compile: a graph to a program, for people, for scripts, or as a file.
#include <fmt/format.h>

#include "capra/targets/ga2/isa/hex_text.h"
#include "capra/targets/ga2/isa/listing.h"
#include "capra/targets/ga2/program_json.h"
#include "capra/targets/ga2/sim/run.h"
#include "tools/capra/ga2/request.h"
#include "tools/capra/output.h"

namespace capra::driver {
namespace {

Result<std::string> program_text(const ga2::Program& program, const std::string& path) {
  if (path.ends_with(".hex")) return ga2::hex_text(program.instructions);
  if (path.ends_with(".lst") || path.ends_with(".txt")) {
    return ga2::listing_text(program.instructions);
  }
  return fail("output-format-unknown", "the suffix of '" + path + "' names no form of a program",
              "--output", "use .hex for words, .lst or .txt for the listing");
}

Result<std::string> memory_text(const ga2::Program& program, const ga2::CompileRequest& request) {
  const ga2::Sample sample = request.test ? *request.test : ga2::zero_sample(program.network);
  CAPRA_ASSIGN(const std::vector<uint32_t> words, ga2::external_image(program, sample));
  return ga2::memory_hex_text(words);
}

Result<Json> document_of(const ga2::CompileRequest& request, const ga2::Program& program) {
  ga2::CompileOptions options = request.options;
  options.schedule = ga2::Schedule::Author;
  options.reuse = false;
  return ga2::compiled_json(program, ga2::compile(request.network, request.calibration, options),
                            request.test);
}

}  // namespace

Result<int> run_ga2_compile(const Ga2CompileOptions& options) {
  CAPRA_ASSIGN(const ga2::CompileRequest request, open_request(options));
  CAPRA_ASSIGN(const ga2::Program program, compile_request(request));
  print_notes(program, options);
  // All that can be refused is, before a file appears.
  std::string text;
  if (options.json) {
    CAPRA_ASSIGN(const Json document, document_of(request, program));
    text = document.text(2) + "\n";
  } else {
    if (options.output.empty()) {
      for (size_t i = 0; i < program.instructions.size(); ++i) {
        text += fmt::format("{:5}  {}\n", i, ga2::instruction_text(program.instructions[i]));
      }
    }
    text += fmt::format("# {}\n", program_summary(program));
  }
  std::string words;
  std::string memory;
  if (!options.output.empty()) {
    CAPRA_ASSIGN(words, program_text(program, options.output));
  }
  if (!options.memory.empty()) {
    CAPRA_ASSIGN(memory, memory_text(program, request));
  }
  if (!options.output.empty()) CAPRA_TRY(write_output(options.output, words));
  if (!options.memory.empty()) CAPRA_TRY(write_output(options.memory, memory));
  CAPRA_TRY(print_result(text));
  return kDone;
}

}  // namespace capra::driver
