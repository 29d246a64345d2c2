// The one file that names all targets.
#include "capra/targets/all_targets.h"

#include "capra/targets/cpu/target.h"
#include "capra/targets/ga2/target.h"
#include "capra/targets/interp/target.h"
#include "capra/targets/stablehlo/iree/target.h"
#include "capra/targets/stablehlo/target.h"

namespace capra {

TargetSet all_targets() {
  static constexpr const Target* kTargets[] = {&cpu::kTarget, &ga2::kTarget, &interp::kTarget,
                                               &iree::kTarget, &stablehlo::kTarget};
  return kTargets;
}

}  // namespace capra
