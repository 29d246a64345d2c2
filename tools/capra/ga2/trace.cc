// Which words each instruction writes, and what stands in them afterwards.
#include "tools/capra/ga2/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "capra/targets/ga2/isa/access.h"
#include "capra/targets/ga2/isa/listing.h"
#include "capra/targets/ga2/sim/machine.h"
#include "capra/targets/ga2/sim/run.h"

namespace capra::driver {
namespace {

constexpr size_t kShownWords = 8;
constexpr size_t kInstructionColumns = 86;

// A store writes to external memory, all others to the scratchpad.
std::vector<ga2::Words> written_by(const ga2::Instruction& instruction) {
  if (const auto* store = std::get_if<ga2::Store>(&instruction)) return {{store->dst, store->len}};
  return ga2::access_of(instruction).writes;
}

WrittenWords words_at(std::span<const uint32_t> memory, const ga2::Words& range) {
  WrittenWords written{.address = range.address, .values = {}};
  written.values.reserve(static_cast<size_t>(range.count));
  for (const uint32_t word :
       memory.subspan(static_cast<size_t>(range.address), static_cast<size_t>(range.count))) {
    written.values.push_back(static_cast<int32_t>(word));
  }
  return written;
}

}  // namespace

Result<std::vector<TraceStep>> traced_run(const ga2::Program& program, const ga2::Sample& sample) {
  CAPRA_ASSIGN(std::vector<uint32_t> image, ga2::external_image(program, sample));
  ga2::Machine machine(std::move(image));
  std::vector<TraceStep> steps;
  int64_t cycle = 0;
  const auto observe = [&](size_t number, const ga2::Instruction& instruction) {
    TraceStep step{.cycle = cycle,
                   .number = number,
                   .instruction = instruction,
                   .is_external = std::holds_alternative<ga2::Store>(instruction),
                   .written = {}};
    const auto memory = step.is_external ? machine.external() : machine.scratchpad();
    for (const ga2::Words& range : written_by(instruction)) {
      step.written.push_back(words_at(memory, range));
    }
    cycle = machine.counters().total;
    steps.push_back(std::move(step));
  };
  CAPRA_TRY(machine.run(program.instructions, observe));
  return steps;
}

std::string trace_line(const TraceStep& step) {
  std::string line = fmt::format("{:7}  {:4}  {}", step.cycle, step.number,
                                 ga2::instruction_text(step.instruction));
  if (step.written.empty()) return line;
  line +=
      std::string(line.size() < kInstructionColumns ? kInstructionColumns - line.size() : 1, ' ');
  line += step.is_external ? "ext" : "spad";
  for (const WrittenWords& written : step.written) {
    line += fmt::format(" {}:", written.address);
    const size_t shown = std::min(kShownWords, written.values.size());
    for (size_t i = 0; i < shown; ++i) line += fmt::format(" {}", written.values[i]);
    if (shown < written.values.size())
      line += fmt::format(" ... ({} words)", written.values.size());
  }
  return line;
}

Json trace_json(const TraceStep& step) {
  Json written = Json::array();
  for (const WrittenWords& one : step.written) {
    Json values = Json::array();
    for (const int32_t value : one.values) values.push(value);
    Json range = Json::object();
    range.set("address", one.address).set("values", std::move(values));
    written.push(std::move(range));
  }
  Json json = Json::object();
  json.set("cycle", step.cycle).set("number", static_cast<int64_t>(step.number));
  json.set("instruction", ga2::instruction_text(step.instruction));
  json.set("memory", step.is_external ? "ext" : "spad").set("written", std::move(written));
  return json;
}

}  // namespace capra::driver
