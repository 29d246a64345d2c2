// A pass: one identity, its guard, and the list that runs it to a fixed point.
#include <cstdio>

#include "capra/base/diagnostic.h"
#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/relu.h"
#include "capra/passes/passes.h"
#include "capra/passes/pipeline.h"
#include "capra/passes/rule.h"

namespace {

using namespace capra;

// relu(relu(x)) = relu(x): what is cut off once has nothing left to cut off. The same bits, so the
// pass is exact. A chain of any length ends as one, because a rule sees what came of its operand.
bool idempotent_relu(GraphRewriter& rewriter, NodeId root) {
  const Graph& graph = rewriter.source();
  if (!is_op(graph, root, kRelu)) return false;
  const NodeId inner = operand(graph, root, 0);
  if (!is_op(graph, inner, kRelu)) return false;
  rewriter.replace(root, rewriter.copy(inner));
  return true;
}

constexpr Rule kRules[] = {{"idempotent-relu", idempotent_relu}};

Result<Graph> merge(const Graph& graph, PassContext& context) {
  return apply_rules(graph, context, "merge-relu", kRules);
}

const Pass kMergeRelu{"merge-relu", "One relu where two follow each other.", NumericEffect::Exact,
                      merge};

// %c stays: there is a neg between it and the relu before, a twin that almost matches.
constexpr const char* kText = R"(graph @chain {
  %x = input {name = "x"} : f32[n]
  %a = relu %x
  %b = relu %a
  %n = neg %b
  %c = relu %n
  output %c {name = "c"}
})";

Status show() {
  CAPRA_ASSIGN(const Graph before, parse_graph(kText, all_ops()));
  PassContext context;
  const Pass* const list[] = {&kMergeRelu, &kDeadCode};
  CAPRA_ASSIGN(const Graph after, run_passes(before, list, context, {.verify_each = true}));
  std::printf("%s\n%s", print_graph(before).c_str(), print_graph(after).c_str());
  for (const Rewrite& rewrite : context.report.rewrites) {
    std::printf("%s: %s at %s\n", rewrite.pass.c_str(), rewrite.rule.c_str(), rewrite.node.c_str());
  }
  return {};
}

}  // namespace

int main() {
  const Status status = show();
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", to_text(status.error()).c_str());
  return 2;
}
