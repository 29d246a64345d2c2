// The list of approximations: one line each.
#include "capra/passes/approximate.h"

#include <algorithm>
#include <utility>

#include "capra/passes/gelu_tanh.h"
#include "capra/passes/pipeline.h"

namespace capra {
namespace {

struct NamedPass {
  std::string_view name;
  const Pass* pass;
};
constexpr NamedPass kApproximations[] = {{"gelu=tanh", &kGeluTanh}};

}  // namespace

Result<Graph> approximate(Graph graph, std::span<const std::string> names, std::string_view target,
                          PassReport* report) {
  PassContext context;
  context.target = target;
  for (const std::string& name : names) {
    const auto* found = std::ranges::find(kApproximations, name, &NamedPass::name);
    if (found == std::end(kApproximations)) {
      std::string known;
      for (const NamedPass& one : kApproximations) {
        known += (known.empty() ? "" : ", ") + std::string(one.name);
      }
      return fail("approximation-unknown", "there is no approximation called '" + name + "'",
                  "--approximate", "known: " + known);
    }
    const PipelineOptions options{.list_of = [](const Pass&) { return kAskedFor; }};
    CAPRA_ASSIGN(graph, run_passes(graph, {&found->pass, 1}, context, options));
  }
  if (report != nullptr) report->append(std::move(context.report));
  return graph;
}

}  // namespace capra
