// What a program does, instruction by instruction.
#pragma once

#include <string>
#include <vector>

#include "capra/io/json.h"
#include "capra/targets/ga2/emit/program.h"
#include "capra/targets/ga2/quantize/evaluate.h"

namespace capra::driver {

/// A run of words that an instruction wrote.
struct WrittenWords {
  int64_t address = 0;
  std::vector<int32_t> values;
};

struct TraceStep {
  int64_t cycle = 0;  ///< in which the instruction is fetched, from 0
  size_t number = 0;
  ga2::Instruction instruction;
  bool is_external = false;  ///< whether it wrote to external memory
  std::vector<WrittenWords> written;
};

/// A run on the sample. Fails as `ga2::run`.
Result<std::vector<TraceStep>> traced_run(const ga2::Program& program, const ga2::Sample& sample);

/// `    25  LD   dst=0 src=8 len=40    spad 0: 64 -30 2 3 ... (40 words)`
std::string trace_line(const TraceStep& step);
Json trace_json(const TraceStep& step);

}  // namespace capra::driver
