// A machine without erf. It asks for the recorded legalization of exact GELU; a bare erf it
// refuses.
//   my-dsp      writes StableHLO programs for the machine's compiler
//   my-dsp-sim  runs the same graphs here, by the cpu's kernels
#include <utility>
#include <vector>

#include "capra/ops/erf.h"
#include "capra/ops/erfc.h"
#include "capra/ops/gelu.h"
#include "capra/passes/gelu_tanh.h"
#include "capra/passes/pipeline.h"
#include "capra/runtime/plugin.h"
#include "capra/targets/cpu/target.h"
#include "capra/targets/stablehlo/target.h"

namespace {

using namespace capra;

std::vector<const OpRow*> without_erf(const OpTable& table) {
  std::vector<const OpRow*> chosen;
  for (const OpRow* row : table.rows()) {
    if (row->op != &kErf && row->op != &kErfc && row->op != &kGelu) chosen.push_back(row);
  }
  return chosen;
}

const Pass& legalization() {
  static const Pass kLegalization = gelu_tanh_legalization("my-dsp has no erf kernel");
  return kLegalization;
}

PassList program_roads_passes() {
  static const Pass* const kList[] = {&legalization()};
  return kList;
}

// The multiplier and the adder take an immediate as their first operand.
Status constants_first(stablehlo::Module& module, PassContext&) {
  for (stablehlo::Function& function : module.functions) {
    const auto arguments = static_cast<stablehlo::ValueId>(function.arguments.size());
    const auto is_constant = [&](stablehlo::ValueId value) {
      return value >= arguments &&
             function.operations[static_cast<size_t>(value - arguments)].name ==
                 "stablehlo.constant";
    };
    for (stablehlo::Operation& operation : function.operations) {
      if (operation.name != "stablehlo.multiply" && operation.name != "stablehlo.add") continue;
      std::vector<stablehlo::ValueId>& operands = operation.operands;
      if (!is_constant(operands[0]) && is_constant(operands[1])) {
        std::swap(operands[0], operands[1]);
      }
    }
  }
  return {};
}

std::span<const ProgramPass* const> program_passes() {
  static constexpr ProgramPass kConstantsFirst = stablehlo::program_pass<constants_first>(
      "my-dsp-constants-first", "Puts the constant of a product or sum first.");
  static constexpr const ProgramPass* kList[] = {&kConstantsFirst};
  return kList;
}

// The loader takes one file.
ConstantPlacement constants() { return {}; }

const Target& writes() {
  static const std::vector<const OpRow*> kRows = without_erf(*stablehlo::kTarget.table);
  static const OpTable kTable(kRows, stablehlo::kTarget.table->bounds());
  static const Target kTarget{.name = "my-dsp",
                              .summary = "Writes StableHLO programs without erf, in one file.",
                              .base = &stablehlo::kTarget,
                              .table = &kTable,
                              .optimizer = {.dag_passes = program_roads_passes,
                                            .program_passes = program_passes,
                                            .constants = constants}};
  return kTarget;
}

bool takes_tanh_form(TypeRefs operands, const Attrs& attrs, const TensorType& result) {
  return unpack<GeluAttrs>(attrs).approximate &&
         cpu::kTarget.table->find(kGelu, operands, attrs, result) != nullptr;
}

// The legalization comes before the cpu's own passes, which legalize by the table and fuse.
PassList simulator_passes() {
  static const std::vector<const Pass*> kList = [] {
    std::vector<const Pass*> list{&legalization()};
    list.insert(list.end(), cpu_passes().begin(), cpu_passes().end());
    return list;
  }();
  return kList;
}

const Target& runs() {
  static constexpr OpRow kTanhGelu{.op = &kGelu, .takes = takes_tanh_form};
  static const std::vector<const OpRow*> kRows = [] {
    std::vector<const OpRow*> rows = without_erf(*cpu::kTarget.table);
    rows.push_back(&kTanhGelu);
    return rows;
  }();
  static const OpTable kTable(kRows);
  static const Target kTarget{.name = "my-dsp-sim",
                              .summary = "Runs as the cpu does, without erf.",
                              .base = &cpu::kTarget,
                              .table = &kTable,
                              .optimizer = {.dag_passes = simulator_passes}};
  return kTarget;
}

const Plugin& plugin() {
  static const Target* const kTargets[] = {&writes(), &runs()};
  static const Plugin kPlugin{.targets = kTargets};
  return kPlugin;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const capra::Plugin* capra_plugin() {
  return &plugin();
}
