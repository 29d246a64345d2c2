// The target my-dsp: the cpu without erf. It asks for the recorded legalization of exact GELU; a
// bare erf it refuses.
#include <vector>

#include "capra/ops/erf.h"
#include "capra/ops/erfc.h"
#include "capra/ops/gelu.h"
#include "capra/passes/gelu_tanh.h"
#include "capra/passes/pipeline.h"
#include "capra/runtime/plugin.h"
#include "capra/targets/cpu/target.h"

namespace {

using namespace capra;

bool takes_tanh_form(TypeRefs operands, const Attrs& attrs, const TensorType& result) {
  return unpack<GeluAttrs>(attrs).approximate &&
         cpu::kTarget.table->find(kGelu, operands, attrs, result) != nullptr;
}

constexpr OpRow kTanhGelu{.op = &kGelu, .takes = takes_tanh_form};

std::vector<const OpRow*> rows() {
  std::vector<const OpRow*> chosen{&kTanhGelu};
  for (const OpRow* row : cpu::kTarget.table->rows()) {
    if (row->op != &kErf && row->op != &kErfc && row->op != &kGelu) chosen.push_back(row);
  }
  return chosen;
}

// The legalization comes before the cpu's own passes, which legalize by the table and fuse.
PassList passes() {
  static const Pass kLegalization = gelu_tanh_legalization("my-dsp has no erf kernel");
  static const std::vector<const Pass*> kList = [] {
    std::vector<const Pass*> list{&kLegalization};
    list.insert(list.end(), cpu_passes().begin(), cpu_passes().end());
    return list;
  }();
  return kList;
}

const Plugin& plugin() {
  static const std::vector<const OpRow*> kRows = rows();
  static const OpTable kTable(kRows);
  static const Target kTarget{.name = "my-dsp",
                              .summary = "Runs as the cpu does, without erf.",
                              .base = &cpu::kTarget,
                              .table = &kTable,
                              .optimizer = {.dag_passes = passes}};
  static const Target* const kTargets[] = {&kTarget};
  static const Plugin kPlugin{.targets = kTargets};
  return kPlugin;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const capra::Plugin* capra_plugin() {
  return &plugin();
}
