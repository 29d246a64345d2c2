// Finding the approximations, and evaluating the graph with each of them alone.
#include "models/error_budget.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "capra/interp/interp.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ops/convert.h"
#include "capra/passes/approximate.h"
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/policy/dtype_policy.h"
#include "models/comparison.h"
#include "models/embedding_parts.h"
#include "models/program_budget.h"

namespace capra {
namespace {

using Parts = EmbeddingModel::Parts;

// Tokens evaluated together: the oracle's attention takes memory by their square.
constexpr int64_t kBatchTokens = 256;

bool is_float_conversion(const Graph& graph, const Node& node) {
  return node.op == &kConvert && is_float(node.type.dtype) &&
         is_float(graph.node(node.operands[0]).type.dtype);
}

bool is_narrowing(const Graph& graph, const Node& node) {
  if (!is_float_conversion(graph, node)) return false;
  const DType from = graph.node(node.operands[0]).type.dtype;
  const DType to = node.type.dtype;
  if (from == to) return false;
  return to != DType::F64 && (to != DType::F32 || from == DType::F64);
}

std::vector<bool> narrowing_nodes(const Graph& graph) {
  std::vector<bool> narrowing;
  narrowing.reserve(static_cast<size_t>(graph.size()));
  for (const Node& node : graph.nodes()) narrowing.push_back(is_narrowing(graph, node));
  return narrowing;
}

Array in_dtype(const Array& array, DType dtype) {
  if (array.dtype() == dtype) return array;
  Array converted = Array::zeros(dtype, array.sizes());
  for (int64_t i = 0; i < array.elements(); ++i) converted.set(i, array.f64_at(i));
  return converted;
}

// Runs the op of one node as the target runs it: with its own kernel, or as a program of that op.
class OpRunner {
 public:
  OpRunner(const Parts& parts, ProgramPassChoice passes)
      : parts_(parts),
        eager_(eager_evaluator(*parts.target, parts.pool)),
        options_(parts.compile_options()) {
    options_.program.program_passes = std::move(passes);
  }

  // `attrs` are the node's with the symbols bound.
  Result<Array> run(const Graph& graph, const Node& node, const Attrs& attrs,
                    std::span<const Array> operands) {
    if (eager_ != nullptr) return eager_(*node.op, operands, attrs);
    CAPRA_ASSIGN(const Executable* program, program_of(graph, node));
    std::vector<InputRef> inputs;
    for (const Array& operand : operands) {
      if (operand) inputs.emplace_back(operand);
    }
    Workspace workspace = program->make_workspace(parts_.pool);
    CAPRA_ASSIGN(const std::vector<Array> results, program->run(workspace, inputs));
    return results.front();
  }

 private:
  Result<const Executable*> program_of(const Graph& graph, const Node& node) {
    Graph single = graph_of_call(graph, node, "op");
    std::unique_ptr<Executable>& program = programs_[print_graph(single)];
    if (program == nullptr) {
      CAPRA_ASSIGN(program, compile(*parts_.target, std::move(single), {}, options_));
    }
    return program.get();
  }

  const Parts& parts_;
  Evaluator eager_;
  CompileOptions options_;
  std::map<std::string, std::unique_ptr<Executable>> programs_;  ///< by graph text
};

// The oracle's sink for the nodes of one graph in their order, in which some nodes are run by the
// target, and conversions of floats are left out unless they are chosen.
class MixedSink : public Sink {
 public:
  MixedSink(const Graph& graph, Context oracle, std::vector<bool> chosen, OpRunner& runner)
      : graph_(graph), oracle_(std::move(oracle)), chosen_(std::move(chosen)), runner_(runner) {}

  Tensor apply(const Context& self, const OpDef&, std::span<const Tensor> operands, Attrs attrs,
               TensorType) override {
    const NodeId id = next_call();
    const Node& node = graph_.node(id);
    const bool is_chosen = chosen_[static_cast<size_t>(id)];
    if (is_float_conversion(graph_, node)) {
      if (!is_chosen) return operands[0];
    } else if (is_chosen) {
      std::vector<Array> arrays;
      arrays.reserve(operands.size());
      for (size_t i = 0; i < operands.size(); ++i) {
        arrays.push_back(
            operands[i] ? in_dtype(operands[i].array(), graph_.node(node.operands[i]).type.dtype)
                        : Array());
      }
      return Tensor::of_data(
          self, interp_array(runner_.run(graph_, node, attrs, arrays).value_or_throw()));
    }
    std::vector<Tensor> handed;
    for (const Tensor& operand : operands) {
      handed.push_back(operand ? Tensor::of_data(oracle_, operand.array()) : Tensor());
    }
    return Tensor::of_data(self, capra::apply(*node.op, handed, std::move(attrs), oracle_).array());
  }

  Tensor parameter(const Context& self, std::string_view path, TensorType type) override {
    return Tensor::of_data(self, oracle_.sink().parameter(oracle_, path, std::move(type)).array());
  }

 private:
  // `replay` makes one call for each node that is neither given nor asked for.
  NodeId next_call() {
    const auto is_call = [&](const Node& node) {
      return node.op != &kInput && node.op != &kParameter && node.op != &kOutput;
    };
    while (!is_call(graph_.node(next_))) ++next_;
    return next_++;
  }

  const Graph& graph_;
  Context oracle_;
  std::vector<bool> chosen_;
  OpRunner& runner_;
  NodeId next_ = 0;
};

// The last hidden state in double precision but for the chosen nodes.
Result<Array> evaluate(const Parts& parts, const Graph& graph, std::vector<bool> chosen,
                       OpRunner& runner, const std::vector<Array>& inputs) {
  const Context oracle = interp_context(&parts.weights.parameters, parts.pool);
  const Context mixed(std::make_shared<MixedSink>(graph, oracle, std::move(chosen), runner));
  std::vector<Tensor> tensors;
  tensors.reserve(inputs.size());
  for (const Array& input : inputs) tensors.push_back(Tensor::of_data(mixed, interp_array(input)));
  try {
    return replay(graph, mixed, tensors).front().array();
  } catch (const Error& error) {
    return fail(error.diagnostic());
  }
}

// The vectors of a batch from its hidden states.
std::vector<Array> vectors_of(const Parts& parts, const Array& hidden,
                              std::span<const int32_t> offsets) {
  std::vector<Array> vectors;
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    vectors.push_back(vector_of(parts, rows_of({hidden}, offsets[i], offsets[i + 1]).front()));
  }
  return vectors;
}

double largest_change(const std::vector<Array>& a, const std::vector<Array>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, max_difference(a[i], b[i]));
  return largest;
}

// A part, and the graph in which it is alone: a graph of its own, or nodes of the legal graph.
struct Candidate {
  BudgetPart part;
  std::optional<Graph> graph = {};
  std::optional<Graph> base = {};  ///< what `graph` is compared with; none: as declared
  std::vector<bool> nodes = {};
};

// A graph, and what was approximated on the way to it.
struct Step {
  Graph graph;
  std::vector<Approximation> made;
};

// The legalizations in force, in the order in which they run.
class Legalizations {
 public:
  explicit Legalizations(const Parts& parts)
      : has_table_(resolved(*parts.target).table != nullptr),
        exact_(parts.exact_graph),
        so_far_(parts.exact_graph) {}

  // `run` makes the step from a graph of one that is called `name`.
  template <class Run>
  Status add(const std::string& name, const Run& run) {
    CAPRA_ASSIGN(Step alone, run(exact_));
    CAPRA_ASSIGN(Step next, run(so_far_));
    Graph after = next.graph;
    if (!next.made.empty()) {
      // What those before it have done already, or left for it to do, is not its own.
      if (alone.made.size() == next.made.size()) {
        add_candidate(name, std::move(alone), std::nullopt);
      } else {
        add_candidate(name, std::move(next), so_far_);
      }
    }
    so_far_ = std::move(after);
    return {};
  }

  std::vector<Candidate> take() { return std::move(candidates_); }

 private:
  void add_candidate(const std::string& name, Step step, std::optional<Graph> base) {
    BudgetPart part{.kind = BudgetKind::Legalization,
                    .name = name,
                    .nodes = static_cast<int64_t>(step.made.size()),
                    .bound = {.max_abs = 0, .max_ulp = 0},
                    .reason = step.made.front().reason,
                    .measured = base ? "the oracle with this form after those above"
                                     : "the oracle with this form alone"};
    for (const Approximation& one : step.made) {
      part.bound.max_abs = std::max(part.bound.max_abs, one.max_abs_error);
      part.max_rel = std::max(part.max_rel, one.max_rel_error);
    }
    std::vector<bool> narrowing = narrowing_nodes(step.graph);
    const bool narrows = part.bound.max_abs == 0 && std::ranges::count(narrowing, true) > 0;
    // The same conversions are in the legal graph.
    if (narrows && has_table_) return;
    if (narrows) part.measured = "the oracle with these roundings alone";
    candidates_.push_back({.part = std::move(part),
                           .graph = std::move(step.graph),
                           .base = std::move(base),
                           .nodes = narrows ? std::move(narrowing) : std::vector<bool>()});
  }

  bool has_table_;
  const Graph& exact_;
  Graph so_far_;
  std::vector<Candidate> candidates_;
};

// One run of a pass; a rewrite that does not say otherwise has the effect of its pass.
Step step_of(Graph graph, PassContext& context) {
  for (Rewrite& rewrite : context.report.rewrites) {
    if (!rewrite.effect) rewrite.effect = NumericEffect::Approximate;
  }
  std::vector<Approximation> made = approximations_made(context.report.rewrites, graph);
  return {std::move(graph), std::move(made)};
}

Result<std::vector<Candidate>> legalizations(const Parts& parts) {
  Legalizations all(parts);
  const std::string_view target = parts.target->name;
  for (const std::string& name : parts.options.approximate) {
    CAPRA_TRY(all.add(name, [&](const Graph& graph) -> Result<Step> {
      PassReport report;
      CAPRA_ASSIGN(Graph next, approximate(graph, std::span(&name, 1), target, &report));
      std::vector<Approximation> made = approximations_made(report.rewrites, next);
      return Step{std::move(next), std::move(made)};
    }));
  }
  const TargetOptimizer hooks = resolved(*parts.target).optimizer;
  const auto on_tape = hooks.tape_passes;
  for (const TapePass* pass : on_tape == nullptr ? std::span<const TapePass* const>() : on_tape()) {
    if (pass->effect != NumericEffect::Approximate) continue;
    CAPRA_TRY(all.add(std::string(pass->name), [&](const Graph& graph) -> Result<Step> {
      PassContext context{.target = target};
      CAPRA_ASSIGN(Tape tape, pass->run(build_tape(graph), context));
      return step_of(build_graph(std::move(tape)), context);
    }));
  }
  const auto passes = hooks.dag_passes;
  for (const Pass* pass : passes == nullptr ? PassList() : passes()) {
    if (pass->effect != NumericEffect::Approximate) continue;
    CAPRA_TRY(all.add(std::string(pass->name), [&](const Graph& graph) -> Result<Step> {
      PassContext context{.target = target};
      CAPRA_ASSIGN(Graph next, pass->run(graph, context));
      return step_of(std::move(next), context);
    }));
  }
  return all.take();
}

bool is_bounded(const Accuracy& accuracy) {
  constexpr double kRounded = 0.5;
  return accuracy.max_abs > 0 || accuracy.max_ulp > kRounded || accuracy.max_ulp_per_term > 0;
}

// The candidate of this kind and name, made at its first node.
Candidate& candidate_of(std::vector<Candidate>& candidates, const Graph& legal, BudgetPart part) {
  auto found = std::ranges::find_if(candidates, [&](const Candidate& one) {
    return one.part.kind == part.kind && one.part.name == part.name;
  });
  if (found == candidates.end()) {
    candidates.push_back(
        {.part = std::move(part), .nodes = std::vector<bool>(static_cast<size_t>(legal.size()))});
    found = candidates.end() - 1;
  }
  return *found;
}

// What the target computes within bounds, and what it narrows, in the graph that it runs.
std::vector<Candidate> bounded_nodes(const Parts& parts, const Graph& legal) {
  const OpTable& table = *table_of(*parts.target, {.without = parts.options.without});
  std::vector<Candidate> candidates;
  const auto take = [&](NodeId id, BudgetPart part) {
    Candidate& candidate = candidate_of(candidates, legal, std::move(part));
    candidate.nodes[static_cast<size_t>(id)] = true;
    ++candidate.part.nodes;
  };
  const std::string name(parts.target->name);
  for (NodeId id = 0; id < legal.size(); ++id) {
    const Node& node = legal.node(id);
    if (is_narrowing(legal, node)) {
      take(id, {.kind = BudgetKind::Narrowing,
                .name = std::string(dtype_name(legal.node(node.operands[0]).type.dtype)) + " -> " +
                        std::string(dtype_name(node.type.dtype)),
                .measured = "the oracle with these roundings alone"});
      continue;
    }
    if (table.find(*node.op, operand_types(legal, node.operands), node.attrs, node.type) ==
        nullptr) {
      continue;
    }
    const OpBound bound = table.bound(*node.op);
    if (!is_float(node.type.dtype) || !is_bounded(bound.accuracy)) continue;
    take(id, {.kind = bound.reason.empty() ? BudgetKind::Kernel : BudgetKind::OwnFunction,
              .name = std::string(node.op->name),
              .bound = bound.accuracy,
              .reason = std::string(bound.reason),
              .measured = "the oracle with this op alone run by " + name});
  }
  return candidates;
}

}  // namespace

std::string_view budget_kind_name(BudgetKind kind) {
  switch (kind) {
    case BudgetKind::Legalization:
      return "legalization";
    case BudgetKind::Narrowing:
      return "narrowing";
    case BudgetKind::Kernel:
      return "kernel";
    case BudgetKind::OwnFunction:
      return "own function";
  }
  CAPRA_CHECK(false);
}

Result<ErrorBudget> measure_budget(const EmbeddingModel& model, const PackedTokens& tokens,
                                   const std::function<void(double)>& progress) {
  const Parts& parts = model.parts();
  CAPRA_TRY(check_packed(*parts.encoder, tokens.ids, tokens.offsets));
  CAPRA_ASSIGN(std::vector<Candidate> candidates, legalizations(parts));
  Graph legal;
  if (resolved(*parts.target).table != nullptr) {
    CAPRA_ASSIGN(legal, optimize(*parts.target, parts.graph, parts.weights.parameters,
                                 parts.compile_options()));
    legal = inline_groups(std::move(legal), [](const Graph&, NodeId) { return true; });
    for (Candidate& one : bounded_nodes(parts, legal)) {
      if (one.part.kind == BudgetKind::Narrowing) {
        const auto first = std::ranges::find(one.nodes, true) - one.nodes.begin();
        one.part.max_rel = rounding_error(legal.node(static_cast<NodeId>(first)).type.dtype);
      }
      candidates.push_back(std::move(one));
    }
  }
  CAPRA_ASSIGN(ProgramBudget program, ProgramBudget::find(parts));
  OpRunner runner(parts, program.exact_passes());
  int64_t done = 0;
  const int64_t all =
      tokens.sequences() * (static_cast<int64_t>(candidates.size()) + program.runs_of_a_text());
  const auto advance = [&](int64_t texts) {
    done += texts;
    if (progress) progress(static_cast<double>(done) / static_cast<double>(all));
  };
  std::vector<BudgetPart> of_program = program.measure(tokens, [&] { advance(1); });
  // What could not be measured counts as done.
  const int64_t rest = tokens.sequences() * program.runs_of_a_text() - done;
  if (rest > 0) advance(rest);
  for (int64_t first = 0; first < tokens.sequences();) {
    const int64_t last = batch_end(tokens.offsets, first, kBatchTokens);
    BatchWorkspace batch;
    fill_batch(*parts.encoder, tokens.ids, tokens.offsets, first, last, batch);
    const std::vector<Array> inputs = batch_arrays(batch);
    const auto vectors = [&](const Graph& graph,
                             std::vector<bool> nodes) -> Result<std::vector<Array>> {
      nodes.resize(static_cast<size_t>(graph.size()));
      CAPRA_ASSIGN(const Array hidden, evaluate(parts, graph, std::move(nodes), runner, inputs));
      return vectors_of(parts, hidden, batch.offsets);
    };
    std::vector<Array> of_exact;
    std::vector<Array> of_legal;
    for (size_t i = 0; i < candidates.size(); ++i) {
      Candidate& candidate = candidates[i];
      const bool is_form = candidate.graph.has_value();
      const Graph& base = candidate.base ? *candidate.base : is_form ? parts.exact_graph : legal;
      std::vector<Array> of_base;
      std::vector<Array>& exact = candidate.base ? of_base : is_form ? of_exact : of_legal;
      if (exact.empty()) {
        CAPRA_ASSIGN(exact, vectors(base, {}));
      }
      CAPRA_ASSIGN(const std::vector<Array> changed,
                   vectors(is_form ? *candidate.graph : legal, candidate.nodes));
      candidate.part.effect = std::max(candidate.part.effect, largest_change(changed, exact));
      advance(last - first);
    }
    first = last;
  }
  ErrorBudget budget;
  for (Candidate& candidate : candidates) budget.parts.push_back(std::move(candidate.part));
  const auto after_graph = std::ranges::find_if(
      budget.parts, [](const BudgetPart& part) { return part.kind != BudgetKind::Legalization; });
  budget.parts.insert(after_graph, std::make_move_iterator(of_program.begin()),
                      std::make_move_iterator(of_program.end()));
  for (const BudgetPart& part : budget.parts) budget.sum += part.effect;
  return budget;
}

}  // namespace capra
