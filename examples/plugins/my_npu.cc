// The target my-npu: runs primitives, and gelu as one op, by the cpu's kernels. The granularity
// keeps gelu whole; every other composite op is decomposed.
#include <vector>

#include "capra/ops/gelu.h"
#include "capra/passes/passes.h"
#include "capra/passes/pipeline.h"
#include "capra/runtime/plugin.h"
#include "capra/targets/cpu/target.h"

namespace {

using namespace capra;

std::vector<const OpRow*> primitives() {
  std::vector<const OpRow*> chosen;
  for (const OpRow* row : cpu::kTarget.table->rows()) {
    if (row->op->decompose == nullptr) chosen.push_back(row);
  }
  return chosen;
}

// Not the cpu's list: its fusions make ops that this target has no rows for.
PassList passes() {
  static const std::vector<const Pass*> kList = [] {
    std::vector<const Pass*> list(core_passes().begin(), core_passes().end());
    list.push_back(&kLegalize);
    return list;
  }();
  return kList;
}

Granularity granularity() {
  static const OpDef* const kKept[] = {&kGelu};
  return {kKept};
}

const Plugin& plugin() {
  static const std::vector<const OpRow*> kRows = primitives();
  static const OpTable kTable(kRows);
  static const Target kTarget{.name = "my-npu",
                              .summary = "Runs primitives, and gelu as one op.",
                              .base = &cpu::kTarget,
                              .table = &kTable,
                              .optimizer = {.dag_passes = passes, .granularity = granularity}};
  static const Target* const kTargets[] = {&kTarget};
  static const Plugin kPlugin{.targets = kTargets};
  return kPlugin;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const capra::Plugin* capra_plugin() {
  return &plugin();
}
