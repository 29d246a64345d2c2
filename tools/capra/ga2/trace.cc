// Which words each instruction writes, and what stands in them afterwards.
#include "tools/capra/ga2/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "capra/targets/ga2/isa/listing.h"
#include "capra/targets/ga2/sim/machine.h"
#include "capra/targets/ga2/sim/run.h"

namespace capra::driver {
namespace {

constexpr size_t kShownWords = 8;
constexpr size_t kInstructionColumns = 86;

struct WrittenRange {
  int64_t address = 0;
  int64_t words = 0;
};

struct RangesOf {
  using Ranges = std::vector<WrittenRange>;

  Ranges operator()(const ga2::Halt&) const { return {}; }
  Ranges operator()(const ga2::Multiply& one) const {
    Ranges rows;
    rows.reserve(one.m);
    for (int64_t row = 0; row < one.m; ++row) rows.push_back({one.dst + row * one.ldc, one.n});
    return rows;
  }
  Ranges operator()(const ga2::Argmax& one) const { return {{one.dst, 1}}; }
  Ranges operator()(const ga2::Unpack& one) const {
    return {{one.dst, ga2::kPackedValues * one.len}};
  }
  template <class T>
  Ranges operator()(const T& one) const {
    return {{one.dst, one.len}};
  }
};

WrittenWords words_at(std::span<const uint32_t> memory, const WrittenRange& range) {
  WrittenWords written{.address = range.address, .values = {}};
  written.values.reserve(static_cast<size_t>(range.words));
  for (const uint32_t word :
       memory.subspan(static_cast<size_t>(range.address), static_cast<size_t>(range.words))) {
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
    for (const WrittenRange& range : std::visit(RangesOf{}, instruction)) {
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
