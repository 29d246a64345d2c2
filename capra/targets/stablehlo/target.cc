// The record of the StableHLO target: it writes programs, which compilers of the dialect run.
#include "capra/targets/stablehlo/target.h"

#include "capra/passes/passes.h"
#include "capra/passes/policy/prepare_parameters.h"
#include "capra/targets/stablehlo/iree_flags.h"
#include "capra/targets/stablehlo/ops.h"
#include "capra/targets/stablehlo/read/read_back.h"
#include "capra/targets/stablehlo/write.h"

namespace capra::stablehlo {
namespace {

PassList dag_passes() {
  static const Pass* const kPasses[] = {&kLegalize, &kPrepareParameters};
  return kPasses;
}

ConstantPlacement constants() { return {.external_from = 0}; }

Availability availability(const ToolOptions&) {
  return {
      .detail = "text, written here; IREE 3.12 or later compiles it", .needs = {}, .missing = {}};
}

}  // namespace

constinit const Target kTarget{.name = "stablehlo",
                               .summary = "Writes StableHLO programs with their weights.",
                               .table = &kOpTable,
                               .without_extensions = without_extensions,
                               .optimizer = {.dag_passes = dag_passes,
                                             .compile_flags = iree_compile_flags,
                                             .constants = constants},
                               .availability = availability,
                               .write = write,
                               .read_back = read_back};

}  // namespace capra::stablehlo
