// Targets that approximate, each in its way: operands in fewer digits, another function for an op,
// and another function in the program.
#include <vector>

#include "capra/ops/linear.h"
#include "capra/passes/gelu_tanh.h"
#include "capra/passes/pipeline.h"
#include "capra/passes/policy/dtype_policy.h"
#include "capra/runtime/plugin.h"
#include "capra/targets/cpu/target.h"
#include "capra/targets/stablehlo/iree/target.h"
#include "capra/targets/stablehlo/target.h"

namespace capra {
namespace {

template <const Pass& (*kFirst)()>
PassList before_cpu_passes() {
  static const std::vector<const Pass*> kList = [] {
    std::vector<const Pass*> list{&kFirst()};
    list.insert(list.end(), cpu_passes().begin(), cpu_passes().end());
    return list;
  }();
  return kList;
}

const Pass& narrow_products() {
  static const Pass kPass =
      apply_dtype_policy({DTypeRule{.op = &kLinear, .dtype = DType::BF16}}, "its policy is ");
  return kPass;
}

const Pass& tanh_form() {
  static const Pass kPass = gelu_tanh_legalization("it has no erf");
  return kPass;
}

// erf(x) is about tanh(x): 0.0812 apart at most, near x = 0.83.
Status erf_to_tanh(stablehlo::Module& module, PassContext& context) {
  for (stablehlo::Function& function : module.functions) {
    for (stablehlo::Operation& operation : function.operations) {
      if (operation.name != "chlo.erf") continue;
      operation.name = "stablehlo.tanh";
      context.report.rewrites.push_back({.pass = "erf-as-tanh",
                                         .rule = "tanh",
                                         .node = "@" + function.name,
                                         .note = "chlo.erf -> stablehlo.tanh",
                                         .reason = "its compiler has no erf",
                                         .max_abs_error = 0.082});
    }
  }
  return {};
}

std::span<const ProgramPass* const> program_passes() {
  static constexpr ProgramPass kErf = stablehlo::program_pass<erf_to_tanh>(
      "erf-as-tanh", "Erf becomes tanh.", NumericEffect::Approximate);
  static constexpr const ProgramPass* kList[] = {&kErf};
  return kList;
}

constexpr Target kNarrow{.name = "narrow",
                         .summary = "Products of bf16.",
                         .base = &cpu::kTarget,
                         .optimizer = {.dag_passes = before_cpu_passes<narrow_products>}};
constexpr Target kNoErf{.name = "no-erf",
                        .summary = "GELU in its tanh form.",
                        .base = &cpu::kTarget,
                        .optimizer = {.dag_passes = before_cpu_passes<tanh_form>}};
constexpr Target kProgram{.name = "erf-as-tanh",
                          .summary = "Programs for IREE without erf.",
                          .base = &iree::kTarget,
                          .optimizer = {.program_passes = program_passes}};
constexpr const Target* kTargets[] = {&kProgram, &kNarrow, &kNoErf};

}  // namespace
}  // namespace capra

extern "C" __attribute__((visibility("default"))) const capra::Plugin* capra_plugin() {
  static constexpr capra::Plugin kPlugin{.targets = capra::kTargets};
  return &kPlugin;
}
