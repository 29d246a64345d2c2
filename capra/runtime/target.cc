// Finding targets, and the way from a traced graph to an executable.
#include "capra/runtime/target.h"

#include <utility>

namespace capra {
namespace {

PassList legalization() {
  static const Pass* const kLegalize[] = {find_pass("legalize")};
  CAPRA_CHECK(kLegalize[0] != nullptr);
  return kLegalize;
}

}  // namespace

Evaluator eager_evaluator(const Target& target, std::shared_ptr<ThreadPool> pool) {
  if (target.eager == nullptr || target.table == nullptr) return nullptr;
  return
      [context = target.eager(nullptr, std::move(pool))](
          const OpDef& op, std::span<const Array> operands, const Attrs& attrs) -> Result<Array> {
        std::vector<Tensor> tensors;
        tensors.reserve(operands.size());
        for (const Array& operand : operands) {
          tensors.push_back(operand ? Tensor::of_data(context, operand) : Tensor());
        }
        try {
          return apply(op, tensors, attrs, context).array();
        } catch (const Error& error) {
          return fail(error.diagnostic());
        }
      };
}

Result<const Target*> find_target(TargetSet targets, std::string_view name) {
  std::string known;
  for (const Target* target : targets) {
    if (target->name == name) return target;
    known += (known.empty() ? "" : ", ") + std::string(target->name);
  }
  return fail("target-unknown", "there is no target called '" + std::string(name) + "'", {},
              "targets: " + known);
}

Result<Graph> optimize(const Target& target, Graph graph, const Parameters& parameters,
                       const CompileOptions& options) {
  PassContext context{.table = target.table,
                      .target = target.name,
                      .evaluate = eager_evaluator(target, options.pool),
                      .parameters = &parameters};
  const TargetOptimizer& hooks = target.optimizer;
  if (hooks.tape_passes != nullptr && options.optimize) {
    Tape tape = build_tape(graph);
    for (const TapePass* pass : hooks.tape_passes()) {
      CAPRA_ASSIGN(tape, pass->run(std::move(tape), context));
    }
    graph = build_graph(std::move(tape));
  }
  if (options.optimize) {
    CAPRA_ASSIGN(graph, run_passes(graph, core_passes(), context));
    if (hooks.dag_passes != nullptr) {
      CAPRA_ASSIGN(graph, run_passes(graph, hooks.dag_passes(), context));
    }
  } else if (target.table != nullptr) {
    CAPRA_ASSIGN(graph, run_passes(graph, legalization(), context));
  }
  if (options.report != nullptr) *options.report = std::move(context.report);
  return graph;
}

Result<std::unique_ptr<Executable>> compile(const Target& target, Graph graph,
                                            const Parameters& parameters,
                                            const CompileOptions& options) {
  if (target.compile == nullptr) {
    return fail("target-not-executable",
                "target " + std::string(target.name) + " writes programs and does not run them", {},
                "choose a target that runs, such as cpu");
  }
  CAPRA_ASSIGN(graph, optimize(target, std::move(graph), parameters, options));
  return target.compile(graph, parameters, options);
}

}  // namespace capra
