// A plugin whose targets show how it sees the records of the library. FAULT, from the build, sets
// one field of the identity to what no library accepts.
#include "capra/ops/gelu.h"
#include "capra/runtime/plugin.h"

namespace {

using namespace capra;

constexpr const OpDef* kSeen[] = {&kGelu};

constinit const Target kTarget{.name = "records",
                               .summary = "Keeps gelu whole.",
                               .optimizer = {.granularity = [] { return Granularity{kSeen}; }}};
constexpr const Target* kTargets[] = {&kTarget};
constinit const Plugin kPlugin{FAULT.targets = kTargets};

}  // namespace

extern "C" const capra::Plugin* capra_plugin() { return &kPlugin; }
