// A machine with a GELU of its own: the granularity keeps gelu whole, every other composite op is
// decomposed.
//   my-npu      writes StableHLO programs for the machine's compiler
//   my-npu-sim  runs the same graphs here, by the cpu's kernels
#include <cstdint>
#include <string>
#include <vector>

#include "capra/ir/structural_ops.h"
#include "capra/ops/gelu.h"
#include "capra/runtime/plugin.h"
#include "capra/targets/cpu/target.h"
#include "capra/targets/stablehlo/target.h"

namespace {

using namespace capra;

Granularity granularity() {
  static const OpDef* const kKept[] = {&kGelu};
  return {kKept};
}

// All weights are loaded before anything is computed.
Result<Tape> parameters_first(Tape tape, PassContext&) {
  std::vector<size_t> order;
  for (const bool leading : {true, false}) {
    for (size_t i = 0; i < tape.entries.size(); ++i) {
      const OpDef* op = tape.entries[i].op;
      if ((op == &kInput || op == &kParameter) == leading) order.push_back(i);
    }
  }
  std::vector<int32_t> moved(order.size());
  for (size_t i = 0; i < order.size(); ++i) moved[order[i]] = static_cast<int32_t>(i);
  Tape sorted{tape.name, {}};
  for (const size_t old : order) {
    TapeEntry entry = tape.entries[old];
    for (int32_t& operand : entry.operands) {
      if (operand >= 0) operand = moved[static_cast<size_t>(operand)];
    }
    sorted.entries.push_back(std::move(entry));
  }
  return sorted;
}

std::span<const TapePass* const> tape_passes() {
  static constexpr TapePass kParametersFirst{
      .name = "my-npu-parameters-first",
      .summary = "Moves parameters in front of what uses them.",
      .run = parameters_first};
  static constexpr const TapePass* kList[] = {&kParametersFirst};
  return kList;
}

// Those of its base, one replaced and one more.
std::vector<std::string> compile_flags() {
  return with_flags(stablehlo::kTarget.optimizer.compile_flags(),
                    {"--iree-opt-level=O3", "--iree-vm-bytecode-module-strip-source-map=true"});
}

constinit const Target kWrites{
    .name = "my-npu",
    .summary = "Writes StableHLO programs with gelu as one op.",
    .base = &stablehlo::kTarget,
    .optimizer = {
        .tape_passes = tape_passes, .granularity = granularity, .compile_flags = compile_flags}};

std::vector<const OpRow*> primitives() {
  std::vector<const OpRow*> chosen;
  for (const OpRow* row : cpu::kTarget.table->rows()) {
    if (row->op->decompose == nullptr) chosen.push_back(row);
  }
  return chosen;
}

// Not the cpu's list: its fusions make ops that this target has no rows for.
PassList no_fusions() { return {}; }

const Target& runs() {
  static const std::vector<const OpRow*> kRows = primitives();
  static const OpTable kTable(kRows);
  static const Target kTarget{.name = "my-npu-sim",
                              .summary = "Runs primitives, and gelu as one op.",
                              .base = &cpu::kTarget,
                              .table = &kTable,
                              .optimizer = {.dag_passes = no_fusions, .granularity = granularity}};
  return kTarget;
}

const Plugin& plugin() {
  static const Target* const kTargets[] = {&kWrites, &runs()};
  static const Plugin kPlugin{.targets = kTargets};
  return kPlugin;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const capra::Plugin* capra_plugin() {
  return &plugin();
}
