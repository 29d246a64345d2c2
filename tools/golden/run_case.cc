// Running one golden case.
#include "tools/golden/run_case.h"

#include <fmt/format.h>

#include "capra/ir/structural_ops.h"
#include "capra/ir/tape.h"
#include "capra/ir/text.h"
#include "capra/ir/verify.h"
#include "capra/passes/pipeline.h"
#include "capra/runtime/target.h"
#include "capra/targets/all_targets.h"
#include "capra/targets/stablehlo/emit.h"
#include "tools/golden/execute.h"

namespace capra::golden {
namespace {

// What a run gives: text lines, and a graph where the mode makes one.
struct Outcome {
  std::vector<std::string> lines;
  std::optional<Graph> graph;
  bool exact = true;  ///< every pass that ran keeps the bits on cpu
};

std::vector<std::string> output_types(const Graph& graph) {
  std::vector<std::string> lines;
  for (const NodeId id : graph.outputs()) {
    const Node& node = graph.node(id);
    lines.push_back(node.attrs_as<OutputAttrs>().name + " : " + node.type.text());
  }
  return lines;
}

Result<Outcome> run_passes_by_name(const Graph& graph, const RunMode& mode) {
  Outcome outcome;
  std::vector<const Pass*> passes;
  for (const std::string& name : mode.passes) {
    const Pass* pass = find_pass(name);
    if (pass == nullptr) return fail("pass-unknown", "there is no pass '" + name + "'");
    passes.push_back(pass);
    outcome.exact &= pass->effect == NumericEffect::Exact;
  }
  PassContext context;
  if (!mode.target.empty()) {
    CAPRA_ASSIGN(const Target* target, find_target(all_targets(), mode.target));
    context.table = resolved(*target).table;
    context.target = target->name;
    context.evaluate = eager_evaluator(*target);
  }
  CAPRA_ASSIGN(Graph result, run_passes(graph, passes, context, {.verify_each = true}));
  outcome.lines = split_lines(print_graph(result));
  outcome.graph = std::move(result);
  return outcome;
}

// Printing must be the fixed point of parsing.
Status check_round_trip(const std::string& text, OpSet ops, const Graph& graph) {
  CAPRA_ASSIGN(const Graph again, parse_graph(text, ops, "printed text"));
  if (print_graph(again) == text && again.size() == graph.size()) return {};
  return fail("graph-invalid", "printing, parsing and printing again gives another text");
}

Result<Outcome> run_mode(const Graph& graph, const RunMode& mode, OpSet ops) {
  CAPRA_TRY(verify(graph));
  Outcome outcome;
  switch (mode.kind) {
    case RunKind::Infer:
      outcome.lines = output_types(graph);
      return outcome;
    case RunKind::Print:
      outcome.graph = graph;
      break;
    case RunKind::Decompose: {
      CAPRA_ASSIGN(outcome.graph, decompose_once(graph));
      outcome.exact = false;
      break;
    }
    case RunKind::Passes: {
      CAPRA_ASSIGN(outcome, run_passes_by_name(graph, mode));
      break;
    }
    case RunKind::Emit: {
      stablehlo::EmitOptions options{.keep_fused = mode.kept, .chlo = mode.chlo};
      if (mode.external) options.external_from = 0;
      CAPRA_ASSIGN(const stablehlo::Module module, stablehlo::emit(graph, {}, options));
      outcome.lines = split_lines(stablehlo::print_module(module));
      return outcome;
    }
  }
  CAPRA_TRY(verify(*outcome.graph));
  const std::string text = print_graph(*outcome.graph);
  CAPRA_TRY(check_round_trip(text, ops, *outcome.graph));
  outcome.lines = split_lines(text);
  return outcome;
}

class CaseRun {
 public:
  CaseRun(const GoldenFile& file, const GoldenCase& golden_case, OpSet ops)
      : file_(file), case_(golden_case), ops_(ops) {}

  CaseResult run() {
    Result<Graph> graph = parse_graph(case_.graph, ops_, file_.path);
    if (!graph.ok()) {
      check_error(graph.error());
      return std::move(result_);
    }
    Result<Outcome> outcome = run_mode(*graph, case_.mode, ops_);
    if (!outcome.ok()) {
      check_error(outcome.error());
      return std::move(result_);
    }
    if (case_.no_run.empty()) execute(*graph, *outcome);
    const bool agreed = result_.failures.empty();
    result_.actual = outcome->lines;
    result_.may_bless = agreed && case_.expect.kind != ExpectKind::Error;
    compare(*graph, *outcome);
    return std::move(result_);
  }

 private:
  void failure(size_t line, const std::string& words) {
    result_.failures.push_back(
        fmt::format("{}:{}: case {}: {}", file_.path, line, case_.name, words));
  }

  void check_error(const Diagnostic& found) {
    const Expectation& expect = case_.expect;
    const std::string text = to_text(found);
    if (expect.kind != ExpectKind::Error) {
      failure(case_.line, text);
      return;
    }
    if (found.code != expect.code) {
      failure(expect.line, fmt::format("expected error {}, found {}", expect.code, text));
    }
    for (size_t i = 0; i < expect.lines.size(); ++i) {
      const std::string wanted = trimmed(expect.lines[i]);
      if (text.find(wanted) == std::string::npos) {
        failure(expect.begin + i + 1, fmt::format("'{}' is not in: {}", wanted, text));
      }
    }
  }

  static std::string trimmed(const std::string& line) {
    const size_t begin = line.find_first_not_of(' ');
    return begin == std::string::npos ? "" : line.substr(begin);
  }

  void compare(const Graph& graph, const Outcome& outcome) {
    const Expectation& expect = case_.expect;
    if (expect.kind == ExpectKind::Error) {
      failure(expect.line, fmt::format("expected error {}, there is none", expect.code));
      return;
    }
    const std::vector<std::string> wanted =
        expect.kind == ExpectKind::Same ? split_lines(print_graph(graph)) : expect.lines;
    for (size_t i = 0; i < std::max(wanted.size(), outcome.lines.size()); ++i) {
      const std::string left = i < wanted.size() ? wanted[i] : "(nothing)";
      const std::string right = i < outcome.lines.size() ? outcome.lines[i] : "(nothing)";
      if (left == right) continue;
      const size_t line = expect.kind == ExpectKind::Same ? expect.line : expect.begin + i + 1;
      failure(line, fmt::format("\n  expected {}\n  found    {}", left, right));
      return;
    }
  }

  // Both graphs on the oracle and on cpu, with numbers, then with special values among them.
  void execute(const Graph& graph, const Outcome& outcome) {
    std::map<std::string, Array, std::less<>> given;
    for (const auto& [name, text] : case_.data) {
      Result<Array> array = parse_array(text);
      if (!array.ok()) return failure(case_.line, to_text(array.error()));
      given[name] = *std::move(array);
    }
    DimBindings bindings;
    for (const auto& [symbol, extent] : case_.bindings) bindings[symbol] = extent;
    for (const DataKind kind : {DataKind::Finite, DataKind::Special}) {
      if (kind == DataKind::Special && !case_.finite.empty()) continue;
      const uint64_t seed = kind == DataKind::Finite ? 1 : 2;
      Result<RunData> data = seeded_data(graph, given, bindings, kind, seed);
      if (!data.ok()) return failure(case_.line, to_text(data.error()));
      execute_on_oracle(graph, outcome, *data);
      if (outcome.graph.has_value() && outcome.exact && case_.mode.kind == RunKind::Passes) {
        execute_on_cpu(graph, *outcome.graph, *data);
      }
    }
  }

  void execute_on_oracle(const Graph& graph, const Outcome& outcome, const RunData& data) {
    const auto before = run_on_oracle(graph, data);
    ++result_.executions;
    if (!before.ok()) return failure(case_.line, "on the oracle: " + to_text(before.error()));
    if (!outcome.graph.has_value()) return check_shapes(graph, *before);
    const auto after = run_on_oracle(*outcome.graph, data);
    if (!after.ok()) return failure(case_.expect.line, "on the oracle: " + to_text(after.error()));
    const double* within = case_.within.has_value() ? &*case_.within : nullptr;
    const std::string difference = first_difference(*before, *after, within);
    if (!difference.empty()) failure(case_.expect.line, "on the oracle: " + difference);
  }

  // What was computed has the extents that the shape rules said, where they are numbers.
  void check_shapes(const Graph& graph, const std::map<std::string, Array>& outputs) {
    for (const NodeId id : graph.outputs()) {
      const Node& node = graph.node(id);
      const Array& array = outputs.at(node.attrs_as<OutputAttrs>().name);
      bool fits = static_cast<size_t>(node.type.shape.rank()) == array.sizes().size();
      for (int64_t axis = 0; fits && axis < node.type.shape.rank(); ++axis) {
        const Dim& dim = node.type.shape[axis];
        fits = !dim.is_static() || dim.size() == array.sizes()[static_cast<size_t>(axis)];
      }
      if (!fits) {
        failure(case_.expect.line,
                fmt::format("inferred {}, computed {}", node.type.text(), array.type().text()));
      }
    }
  }

  void execute_on_cpu(const Graph& before_graph, const Graph& after_graph, const RunData& data) {
    const auto before = run_on_target("cpu", before_graph, data);
    const auto after = run_on_target("cpu", after_graph, data);
    ++result_.executions;
    if (!before.ok()) return failure(case_.line, "on cpu: " + to_text(before.error()));
    if (!after.ok()) return failure(case_.expect.line, "on cpu: " + to_text(after.error()));
    const std::string difference = first_difference(*before, *after, nullptr);
    if (!difference.empty()) failure(case_.expect.line, "on cpu: " + difference);
  }

  const GoldenFile& file_;
  const GoldenCase& case_;
  OpSet ops_;
  CaseResult result_;
};

}  // namespace

Result<Graph> decompose_once(const Graph& graph) {
  const Context context = TraceSink::begin(graph.name());
  auto& sink = static_cast<TraceSink&>(context.sink());
  std::vector<Tensor> values;
  try {
    for (const Node& node : graph.nodes()) {
      std::vector<Tensor> operands;
      operands.reserve(node.operands.size());
      for (const NodeId id : node.operands) {
        operands.push_back(id == kAbsent ? Tensor() : values[static_cast<size_t>(id)]);
      }
      if (node.op == &kInput) {
        values.push_back(sink.input(context, node.attrs_as<InputAttrs>().name, node.type));
      } else if (node.op == &kParameter) {
        values.push_back(sink.parameter(context, node.attrs_as<ParameterAttrs>().path, node.type));
      } else if (node.op == &kOutput) {
        sink.output(operands[0], node.attrs_as<OutputAttrs>().name);
        values.emplace_back();
      } else if (node.op == &kGroup) {
        return fail("graph-invalid", "a group is not decomposed");
      } else if (node.op->decompose != nullptr) {
        values.push_back(node.op->decompose(operands, node.attrs));
      } else {
        values.push_back(apply(*node.op, operands, node.attrs, context));
      }
    }
  } catch (const Error& error) {
    return fail(error.diagnostic());
  }
  return build_graph(sink.take_tape());
}

CaseResult run_case(const GoldenFile& file, const GoldenCase& golden_case, OpSet ops) {
  return CaseRun(file, golden_case, ops).run();
}

}  // namespace capra::golden
