// The list of approximations: one line each.
#include "capra/passes/approximate.h"

#include <algorithm>

#include "capra/passes/gelu_tanh.h"

namespace capra {
namespace {

struct NamedPass {
  std::string_view name;
  const Pass* pass;
};
constexpr NamedPass kApproximations[] = {{"gelu=tanh", &kGeluTanh}};

}  // namespace

Result<Graph> approximate(Graph graph, std::span<const std::string> names, std::string_view target,
                          std::vector<std::string>* lines) {
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
    CAPRA_ASSIGN(graph, found->pass->run(graph, context));
  }
  if (lines != nullptr) {
    lines->insert(lines->end(), context.report.lines.begin(), context.report.lines.end());
  }
  return graph;
}

}  // namespace capra
