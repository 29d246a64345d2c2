// Finding targets, the stages, and the ways from a traced graph to an executable or a program.
#include "capra/runtime/target.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "capra/base/nearest_name.h"
#include "capra/ir/verify.h"
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/passes.h"
#include "capra/runtime/narrowed_sink.h"
#include "capra/runtime/stages.h"

namespace capra {
namespace {

template <class T>
void take_where_null(T& field, T base) {
  if (field == nullptr) field = base;
}

Granularity granularity_of(const Target& target) {
  return target.optimizer.granularity == nullptr ? Granularity() : target.optimizer.granularity();
}

// Those of a hook's list that are approximations.
template <class PassRecord>
std::vector<const PassRecord*> approximating(std::span<const PassRecord* const> (*hook)()) {
  std::vector<const PassRecord*> passes;
  if (hook == nullptr) return passes;
  std::ranges::copy_if(hook(), std::back_inserter(passes), [](const PassRecord* pass) {
    return pass->effect == NumericEffect::Approximate;
  });
  return passes;
}

Result<Graph> run_on_tape(std::span<const TapePass* const> passes, Graph graph,
                          PassContext& context, bool verify_each) {
  graph = inline_groups(std::move(graph), [](const Graph&, NodeId) { return true; });
  const PassStage<Tape, TapePass> stage{
      .name = "tape",
      .subject = graph.name(),
      .run = [](const TapePass& pass, const Tape& now,
                PassContext& known) { return pass.run(now, known); },
      .verify = [](const Tape& now) { return verify(now); },
      .size = [](const Tape& now) { return static_cast<int64_t>(now.entries.size()); },
      .list_of = [](const TapePass&) { return kTapePasses; }};
  CAPRA_ASSIGN(Tape tape,
               run_to_fixed_point(build_tape(graph), passes, stage, context, verify_each));
  return build_graph(std::move(tape));
}

// Which list of the target a pass on graphs belongs to; `legalize` stands alone.
std::string_view list_of(const Target& whole, const Pass& pass) {
  if (&pass == &kLegalize) return kLegalizing;
  if (whole.optimizer.dag_passes == nullptr) return kCorePasses;
  const PassList own = whole.optimizer.dag_passes();
  return std::ranges::find(own, &pass) == own.end() ? kCorePasses : kDagPasses;
}

PipelineOptions with_lists(PipelineOptions options, const Target& whole) {
  options.list_of = [&whole](const Pass& pass) { return list_of(whole, pass); };
  return options;
}

// The approximations of the target alone, with `more` after those on the graph: what that leaves
// may be approximated too.
Result<Graph> run_approximations(const Target& whole, Graph graph, PassContext& context,
                                 const PipelineOptions& options, PassList more = {}) {
  const auto on_tape = approximating(whole.optimizer.tape_passes);
  if (!on_tape.empty()) {
    CAPRA_ASSIGN(graph, run_on_tape(on_tape, std::move(graph), context, options.verify_each));
  }
  std::vector<const Pass*> on_graph = approximating(whole.optimizer.dag_passes);
  on_graph.insert(on_graph.end(), more.begin(), more.end());
  return run_passes(graph, on_graph, context, with_lists(options, whole));
}

// The target whose kernels an eager call of `target` runs, or null.
const Target* eager_owner(const Target& target) {
  const Target* owner = &target;
  while (owner != nullptr && owner->eager == nullptr) owner = owner->base;
  return owner;
}

// The target's own list; in front of it the core passes it does not name, and at its end what makes
// the graph legal.
std::vector<const Pass*> graph_passes(const Target& whole, const PassContext& context) {
  const PassList own =
      whole.optimizer.dag_passes == nullptr ? PassList() : whole.optimizer.dag_passes();
  std::vector<const Pass*> passes;
  for (const Pass* core : core_passes_of(whole)) {
    if (std::ranges::find(own, core) == own.end()) passes.push_back(core);
  }
  passes.insert(passes.end(), own.begin(), own.end());
  const bool legalizes = std::ranges::find(own, &kLegalize) != own.end();
  if (context.table != nullptr && !legalizes) passes.push_back(&kLegalize);
  return passes;
}

// One line of a file, which is no option of another kind nor a file's name to the compiler.
bool is_flag(std::string_view flag) {
  constexpr std::string_view kStart = "--";
  if (!flag.starts_with(kStart) || flag.size() == kStart.size()) return false;
  const auto first = static_cast<unsigned char>(flag[kStart.size()]);
  const bool blank =
      std::ranges::any_of(flag, [](char c) { return static_cast<unsigned char>(c) <= ' '; });
  return std::isalnum(first) != 0 && !blank;
}

// What somebody asked of a written program, where there is none.
Status check_no_program_asked(const Target& target, const WriteOptions& options) {
  const std::string without = options.without.empty() ? "" : "--no-" + options.without.front();
  const std::pair<bool, std::string_view> asked[] = {{!options.keep_fused.empty(), "--keep-fused"},
                                                     {options.constants.has_value(), "--constants"},
                                                     {!without.empty(), without},
                                                     {!options.archive.empty(), "--weights"},
                                                     {!options.flags.empty(), "--flag"},
                                                     {!options.calibration.empty(), "--calibrate"}};
  for (const auto& [is_asked, option] : asked) {
    if (!is_asked) continue;
    return fail("option-invalid",
                "the option is about a written program, and target " + std::string(target.name) +
                    " runs graphs and writes none",
                std::string(option), "leave it out, or choose a target that writes programs");
  }
  return {};
}

}  // namespace

Target resolved(const Target& target) {
  Target whole = target;
  for (const Target* base = target.base; base != nullptr; base = base->base) {
    take_where_null(whole.table, base->table);
    take_where_null(whole.without_extensions, base->without_extensions);
    take_where_null(whole.optimizer.tape_passes, base->optimizer.tape_passes);
    take_where_null(whole.optimizer.core_passes, base->optimizer.core_passes);
    take_where_null(whole.optimizer.dag_passes, base->optimizer.dag_passes);
    take_where_null(whole.optimizer.program_passes, base->optimizer.program_passes);
    take_where_null(whole.optimizer.granularity, base->optimizer.granularity);
    take_where_null(whole.optimizer.compile_flags, base->optimizer.compile_flags);
    take_where_null(whole.optimizer.constants, base->optimizer.constants);
    take_where_null(whole.availability, base->availability);
    take_where_null(whole.eager, base->eager);
    take_where_null(whole.compile, base->compile);
    take_where_null(whole.write, base->write);
    take_where_null(whole.read_back, base->read_back);
  }
  return whole;
}

const OpTable* table_of(const Target& target, const WriteOptions& options) {
  const Target whole = resolved(target);
  if (whole.table == nullptr || whole.without_extensions == nullptr) return whole.table;
  return &whole.without_extensions(*whole.table, options.without);
}

PassList core_passes_of(const Target& target) {
  const auto own = resolved(target).optimizer.core_passes;
  return own == nullptr ? core_passes() : own();
}

Availability availability_of(const Target& target, const ToolOptions& tools) {
  const Target whole = resolved(target);
  return whole.availability == nullptr ? Availability() : whole.availability(tools);
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
  std::vector<std::string_view> names;
  names.reserve(targets.size());
  std::string known;
  for (const Target* target : targets) {
    if (target->name == name) return target;
    names.push_back(target->name);
    known += (known.empty() ? "" : ", ") + std::string(target->name);
  }
  const std::string meant = did_you_mean(name, names);
  return fail("target-unknown", "there is no target called '" + std::string(name) + "'", "--target",
              (meant.empty() ? "" : meant + " ") + "targets: " + known);
}

Result<Graph> approximate_for(const Target& target, Graph graph, PassReport* report) {
  PassContext context{.target = target.name};
  CAPRA_ASSIGN(graph, run_approximations(resolved(target), std::move(graph), context, {}));
  if (report != nullptr) report->append(std::move(context.report));
  return graph;
}

Result<Graph> run_tape_passes(const Target& target, Graph graph, PassContext& context,
                              bool verify_each) {
  const Target whole = resolved(target);
  if (whole.optimizer.tape_passes == nullptr) return graph;
  return run_on_tape(whole.optimizer.tape_passes(), std::move(graph), context, verify_each);
}

Result<Graph> run_graph_passes(const Target& target, const Graph& graph, PassContext& context,
                               const PipelineOptions& options) {
  const Target whole = resolved(target);
  PipelineOptions first = options;
  first.list_of = [](const Pass&) { return kCorePasses; };
  CAPRA_ASSIGN(const Graph core, run_passes(graph, core_passes_of(target), context, first));
  return run_passes(core, graph_passes(whole, context), context, with_lists(options, whole));
}

Status check_program_passes(const Target& target, std::string_view dialect) {
  const Target whole = resolved(target);
  if (whole.optimizer.program_passes == nullptr) return {};
  for (const ProgramPass* pass : whole.optimizer.program_passes()) {
    if (pass->dialect == dialect) continue;
    const std::string written =
        dialect.empty() ? "runs graphs and writes no program" : "writes " + std::string(dialect);
    return fail("program-pass-dialect",
                "program pass " + std::string(pass->name) + " acts on " +
                    std::string(pass->dialect) + "; target " + std::string(whole.name) + " " +
                    written,
                {},
                "take the pass out of the target, or derive the target from one that writes " +
                    std::string(pass->dialect));
  }
  return {};
}

Result<Graph> optimize(const Target& target, Graph graph, const Parameters& parameters,
                       const CompileOptions& options) {
  const Target whole = resolved(target);
  PassContext context{.table = whole.table,
                      .granularity = granularity_of(whole),
                      .target = whole.name,
                      .evaluate = eager_evaluator(target, options.pool),
                      .parameters = &parameters};
  const PipelineOptions pipeline{.verify_each = options.verify_each};
  if (options.optimize) {
    CAPRA_ASSIGN(graph, run_tape_passes(whole, std::move(graph), context, options.verify_each));
    CAPRA_ASSIGN(graph, run_graph_passes(whole, graph, context, pipeline));
  } else {
    static constexpr const Pass* kLast[] = {&kLegalize};
    const PassList more = whole.table == nullptr ? PassList() : PassList(kLast);
    CAPRA_ASSIGN(graph, run_approximations(whole, std::move(graph), context, pipeline, more));
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
                "target " + std::string(target.name) + " writes programs and does not run them",
                "--target", "choose a target that runs, such as cpu");
  }
  if (whole.write == nullptr) {
    CAPRA_TRY(check_no_program_asked(target, options.program));
    CAPRA_TRY(check_program_passes(whole, {}));
    CAPRA_ASSIGN(graph, optimize(target, std::move(graph), parameters, options));
  }
  CAPRA_ASSIGN(std::unique_ptr<Executable> executable,
               whole.compile(whole, graph, parameters, options));
  if (executable == nullptr) {
    return fail("target-invalid",
                "'compile' of target " + std::string(target.name) + " gave no executable",
                graph.name(), "return an executable, or an error that says why there is none");
  }
  return executable;
}

Status check_writes(const Target& target) {
  if (resolved(target).write != nullptr) return {};
  return fail("target-writes-nothing",
              "target " + std::string(target.name) + " runs graphs and writes no program",
              "--target",
              "choose a target that writes programs, or one that derives from such a target");
}

std::vector<std::string> with_flags(std::vector<std::string> flags,
                                    const std::vector<std::string>& more) {
  const auto name = [](const std::string& flag) { return flag.substr(0, flag.find('=')); };
  for (const std::string& flag : more) {
    const auto same = std::ranges::find(flags, name(flag), name);
    if (same == flags.end()) {
      flags.push_back(flag);
    } else {
      *same = flag;
    }
  }
  return flags;
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
  const auto own = whole.optimizer.compile_flags;
  options.flags = with_flags(own == nullptr ? std::vector<std::string>() : own(), options.flags);
  for (const std::string& flag : options.flags) {
    if (is_flag(flag)) continue;
    return fail("option-invalid", "'" + flag + "' is no flag of a compiler", "--flag",
                "write --name or --name=value, without white space");
  }
  return whole.write(whole, graph, parameters, options, folder);
}

}  // namespace capra
