// Graphs for the chip, as the commands of `capra ga2` are given them.
#pragma once

#include "capra/targets/ga2/network_json.h"
#include "tools/capra/ga2/commands.h"

namespace capra::driver {

/// The graph of the file, with what the options change. Fails as `ga2::read_request`, and with
/// `option-invalid`.
Result<ga2::CompileRequest> open_request(const Ga2Options& options);

/// Its program. Fails as `ga2::compile`.
Result<ga2::Program> compile_request(const ga2::CompileRequest& request);

/// What the compiler has to say about a program, on standard error.
void print_notes(const ga2::Program& program, const OutputOptions& options);

/// `38 instructions, 2398 cycles; scratchpad 280 of 4096 words, ...`
std::string program_summary(const ga2::Program& program);

}  // namespace capra::driver
