// Finding targets, and the way from a traced graph to an executable.
#include "capra/runtime/target.h"

#include <utility>

#include "capra/passes/passes.h"
#include "capra/runtime/narrowed_sink.h"

namespace capra {
namespace {

template <class T>
void take_where_null(T& field, T base) {
  if (field == nullptr) field = base;
}

Granularity granularity_of(const Target& target) {
  return target.optimizer.granularity == nullptr ? Granularity() : target.optimizer.granularity();
}

std::vector<const Pass*> approximating_passes(const Target& whole) {
  std::vector<const Pass*> passes;
  if (whole.optimizer.dag_passes == nullptr) return passes;
  for (const Pass* pass : whole.optimizer.dag_passes()) {
    if (pass->effect == NumericEffect::Approximate) passes.push_back(pass);
  }
  return passes;
}

// The target whose kernels an eager call of `target` runs, or null.
const Target* eager_owner(const Target& target) {
  const Target* owner = &target;
  while (owner != nullptr && owner->eager == nullptr) owner = owner->base;
  return owner;
}

}  // namespace

Target resolved(const Target& target) {
  Target whole = target;
  for (const Target* base = target.base; base != nullptr; base = base->base) {
    take_where_null(whole.table, base->table);
    take_where_null(whole.optimizer.tape_passes, base->optimizer.tape_passes);
    take_where_null(whole.optimizer.dag_passes, base->optimizer.dag_passes);
    take_where_null(whole.optimizer.granularity, base->optimizer.granularity);
    take_where_null(whole.optimizer.compile_flags, base->optimizer.compile_flags);
    take_where_null(whole.optimizer.constants, base->optimizer.constants);
    take_where_null(whole.availability, base->availability);
    take_where_null(whole.eager, base->eager);
    take_where_null(whole.compile, base->compile);
    take_where_null(whole.write, base->write);
  }
  return whole;
}

Availability availability_of(const Target& target) {
  const Target whole = resolved(target);
  return whole.availability == nullptr ? Availability() : whole.availability();
}

Context eager_context(const Target& target, const Parameters* parameters,
                      std::shared_ptr<ThreadPool> pool) {
  const Target* owner = eager_owner(target);
  if (owner == nullptr) return {};
  Context inner = owner->eager(parameters, std::move(pool));
  const Target whole = resolved(target);
  if (whole.table == nullptr || whole.table == resolved(*owner).table) return inner;
  return make_narrowed_context(target.name, *whole.table, granularity_of(whole), std::move(inner));
}

Evaluator eager_evaluator(const Target& target, std::shared_ptr<ThreadPool> pool) {
  const Target* owner = eager_owner(target);
  // Without a table ops run as defined, on wider numbers than the graph's.
  if (owner == nullptr || resolved(*owner).table == nullptr) return nullptr;
  const Context eager = eager_context(target, nullptr, std::move(pool));
  return [eager](const OpDef& op, std::span<const Array> operands,
                 const Attrs& attrs) -> Result<Array> {
    std::vector<Tensor> tensors;
    tensors.reserve(operands.size());
    for (const Array& operand : operands) {
      tensors.push_back(operand ? Tensor::of_data(eager, operand) : Tensor());
    }
    try {
      return apply(op, tensors, attrs, eager).array();
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

Result<Graph> approximate_for(const Target& target, Graph graph, std::vector<std::string>* lines) {
  PassContext context{.target = target.name};
  CAPRA_ASSIGN(graph, run_passes(graph, approximating_passes(resolved(target)), context));
  if (lines != nullptr) {
    lines->insert(lines->end(), context.report.lines.begin(), context.report.lines.end());
  }
  return graph;
}

Result<Graph> run_tape_passes(const Target& target, Graph graph, PassContext& context) {
  const Target whole = resolved(target);
  if (whole.optimizer.tape_passes == nullptr) return graph;
  Tape tape = build_tape(graph);
  for (const TapePass* pass : whole.optimizer.tape_passes()) {
    CAPRA_ASSIGN(tape, pass->run(std::move(tape), context));
  }
  return build_graph(std::move(tape));
}

Result<Graph> optimize(const Target& target, Graph graph, const Parameters& parameters,
                       const CompileOptions& options) {
  const Target whole = resolved(target);
  const TargetOptimizer& hooks = whole.optimizer;
  PassContext context{.table = whole.table,
                      .granularity = granularity_of(whole),
                      .target = whole.name,
                      .evaluate = eager_evaluator(target, options.pool),
                      .parameters = &parameters};
  if (options.optimize) {
    CAPRA_ASSIGN(graph, run_tape_passes(whole, std::move(graph), context));
    CAPRA_ASSIGN(graph, run_passes(graph, core_passes(), context));
    if (hooks.dag_passes != nullptr) {
      CAPRA_ASSIGN(graph, run_passes(graph, hooks.dag_passes(), context));
    }
  } else {
    std::vector<const Pass*> passes = approximating_passes(whole);
    if (whole.table != nullptr) passes.push_back(&kLegalize);
    CAPRA_ASSIGN(graph, run_passes(graph, passes, context));
  }
  if (options.report != nullptr) *options.report = std::move(context.report);
  return graph;
}

Result<std::unique_ptr<Executable>> compile(const Target& target, Graph graph,
                                            const Parameters& parameters,
                                            const CompileOptions& options) {
  const Target whole = resolved(target);
  if (whole.compile == nullptr) {
    return fail("target-not-executable",
                "target " + std::string(target.name) + " writes programs and does not run them", {},
                "choose a target that runs, such as cpu");
  }
  if (whole.write == nullptr) {
    CAPRA_ASSIGN(graph, optimize(target, std::move(graph), parameters, options));
  }
  return whole.compile(whole, graph, parameters, options);
}

Status check_writes(const Target& target) {
  if (resolved(target).write != nullptr) return {};
  return fail("target-writes-nothing",
              "target " + std::string(target.name) + " runs graphs and writes no program", {},
              "choose a target that writes programs, or one that derives from such a target");
}

Result<WrittenProgram> write_program(const Target& target, const Graph& graph,
                                     const Parameters& parameters, WriteOptions options,
                                     NewFolder& folder) {
  CAPRA_TRY(check_writes(target));
  const Target whole = resolved(target);
  if (!options.constants) {
    const auto own = whole.optimizer.constants;
    options.constants = own == nullptr ? ConstantPlacement() : own();
  }
  return whole.write(whole, graph, parameters, options, folder);
}

}  // namespace capra
