// capra graph, opt and run: looking at graphs, rewriting them, executing them.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "capra/io/safetensors.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ir/verify.h"
#include "capra/ops/all_ops.h"
#include "capra/passes/approximate.h"
#include "capra/passes/pipeline.h"
#include "capra/targets/all_targets.h"
#include "models/embedding_parts.h"
#include "tools/capra/command.h"
#include "tools/capra/graph_drawing.h"
#include "tools/capra/model_explorer.h"
#include "tools/capra/named_value.h"
#include "tools/capra/output.h"
#include "tools/capra/pass_report.h"
#include "tools/capra/policies.h"

namespace capra::driver {
namespace {

Result<Graph> read_graph(const std::string& path) {
  CAPRA_ASSIGN(const std::string text, read_file(path));
  CAPRA_ASSIGN(Graph graph, parse_graph(text, all_ops(), path));
  CAPRA_TRY(verify(graph));
  return graph;
}

// A graph to look at, and the parameters it has, if it came with any.
struct Subject {
  Graph graph;
  Parameters parameters;
};

Result<Subject> open_subject(const GraphOptions& options) {
  if (options.model.ends_with(".tir")) {
    const char* asked = options.length             ? "--length"
                        : options.states           ? "--states"
                        : options.form != "packed" ? "--sequence"
                                                   : nullptr;
    if (asked != nullptr) {
      return fail("option-invalid", "graph text is what it says", asked,
                  "leave the option out, or give a model folder");
    }
    CAPRA_ASSIGN(Graph graph, read_graph(options.model));
    return Subject{std::move(graph), {}};
  }
  EmbeddingOptions embedding = options.embedding;
  embedding.tokenizer = false;
  embedding.compile = false;
  CAPRA_ASSIGN(const EmbeddingModel model, EmbeddingModel::load(options.model, embedding));
  TraceOptions trace;
  if (options.form == "single") {
    trace.form = SequenceForm::Single;
  } else if (options.form != "packed") {
    return fail("option-invalid", "there is no sequence form '" + options.form + "'", "--sequence",
                "use packed or single");
  }
  if (options.length) trace.length = *options.length;
  trace.states = options.states;
  CAPRA_ASSIGN(Graph graph, model.parts().approximated(model.parts().encoder->trace(trace)));
  return Subject{std::move(graph), model.parts().weights.parameters};
}

}  // namespace

Result<Parameters> read_parameters(const std::string& path) {
  Parameters parameters;
  if (path.empty()) return parameters;
  CAPRA_ASSIGN(const SafetensorsFile file, SafetensorsFile::open(path));
  for (const SafetensorsEntry& entry : file.tensors()) {
    CAPRA_ASSIGN(Array array, file.array(entry.name));
    parameters.emplace(entry.name, std::move(array));
  }
  return parameters;
}

Result<int> run_graph(const GraphOptions& options) {
  CAPRA_ASSIGN(const Target* target, find_target(options.targets, options.embedding.target));
  CAPRA_ASSIGN(Subject subject, open_subject(options));
  const std::string format = options.json ? "json" : options.format;
  if (options.stage == "tape") {
    if (format != "text") {
      return fail("option-invalid", "a tape has no form '" + format + "'", "--format",
                  "use --format text, or --stage graph");
    }
    for (const Node& node : subject.graph.nodes()) {
      if (node.body == nullptr) continue;
      return fail("option-invalid", "the graph has groups, which a tape cannot hold", "--stage",
                  "use --stage graph");
    }
    CAPRA_TRY(print_result(print_tape(build_tape(subject.graph))));
    return kDone;
  }
  if (options.stage == "legal") {
    CAPRA_ASSIGN(subject.graph, optimize(*target, std::move(subject.graph), subject.parameters,
                                         {.verify_each = options.verify_each}));
  } else if (options.stage != "graph") {
    return fail("option-invalid", "there is no stage '" + options.stage + "'", "--stage",
                "use tape, graph or legal");
  }
  std::string text;
  if (format == "text") {
    text = print_graph(subject.graph);
  } else if (format == "json") {
    // Beside our own keys those of a graph collection of Model Explorer, which opens the file as it
    // is.
    Json graphs = Json::array();
    graphs.push(model_explorer_graph(subject.graph));
    Json document = graph_json(subject.graph);
    document.set("label", subject.graph.name()).set("graphs", std::move(graphs));
    text = document.text(2) + "\n";
  } else if (format == "dot") {
    text = graph_dot(subject.graph);
  } else if (format == "svg") {
    text = graph_svg(subject.graph);
  } else {
    return fail("output-format-unknown", "there is no output format '" + format + "'", "--format",
                "use text, json, dot or svg");
  }
  CAPRA_TRY(print_result(text));
  return kDone;
}

Result<int> run_opt(const OptOptions& options) {
  CAPRA_ASSIGN(const Graph graph, read_graph(options.file));
  std::vector<const Pass*> passes;
  for (const std::string& name : options.passes) {
    const Pass* pass = find_pass(name);
    if (pass == nullptr) {
      std::string known;
      for (const Pass* one : all_passes()) {
        known += (known.empty() ? "" : ", ") + std::string(one->name);
      }
      return fail("pass-unknown", "there is no pass called '" + name + "'", "--passes",
                  "passes: " + known);
    }
    passes.push_back(pass);
  }
  CAPRA_ASSIGN(const Target* cpu, find_target(all_targets(), "cpu"));
  PassContext context{.table = cpu->table, .target = cpu->name, .evaluate = eager_evaluator(*cpu)};
  PipelineOptions pipeline;
  pipeline.verify_each = options.verify_each;
  std::string printed;
  if (options.print_after_all) {
    pipeline.after_change = [&](const Pass& pass, const Graph& changed) {
      printed += fmt::format("# after {}\n{}", pass.name, print_graph(changed));
    };
  }
  CAPRA_ASSIGN(const Graph result, run_passes(graph, passes, context, pipeline));
  if (options.json) {
    Json document = Json::object();
    document.set("graph", graph_json(result));
    document.set("passes", changes_json(context.report.changes));
    document.set("rewrites", rewrites_json(context.report.rewrites));
    CAPRA_TRY(print_result(document.text(2) + "\n"));
    return kDone;
  }
  if (!options.quiet) {
    for (const std::string& line : context.report.lines) fmt::print(stderr, "{}\n", line);
  }
  CAPRA_TRY(
      print_result(options.print_after_all && !printed.empty() ? printed : print_graph(result)));
  return kDone;
}

Result<int> run_run(const RunOptions& options) {
  CAPRA_ASSIGN(const Target* target, find_target(options.targets, options.target));
  CAPRA_ASSIGN(Graph graph, read_graph(options.file));
  PassReport done;
  CAPRA_ASSIGN(graph, approximate(std::move(graph), options.approximate, target->name, &done));
  CAPRA_ASSIGN(graph, apply_policies(std::move(graph), options.policies, target->name, done));
  CAPRA_ASSIGN(const Parameters parameters, read_parameters(options.parameters));
  CompileOptions compile_options;
  PassReport report;
  compile_options.report = &report;
  compile_options.program = options.write;
  compile_options.tools = options.tools;
  compile_options.pool = std::make_shared<ThreadPool>(options.threads);
  CAPRA_ASSIGN(const std::unique_ptr<Executable> executable,
               compile(*target, std::move(graph), parameters, compile_options));
  done.append(std::move(report));
  if (!options.quiet) {
    for (const std::string& line : done.lines) fmt::print(stderr, "note: {}\n", line);
  }

  std::vector<Array> values(executable->inputs().size());
  std::set<std::string> given;
  for (const std::string& binding : options.inputs) {
    CAPRA_ASSIGN(const auto named, split_binding(binding));
    const int index = executable->find_input(named.first);
    if (index < 0) {
      return fail("input-unknown", "the graph has no input '" + named.first + "'", options.file,
                  "see the inputs with 'capra graph " + options.file + "'");
    }
    CAPRA_TRY(check_given_once(named.first, given));
    const TensorType& type = executable->inputs()[static_cast<size_t>(index)].type;
    CAPRA_ASSIGN(values[static_cast<size_t>(index)],
                 read_value(named.first, named.second, type.shape.is_static() ? type.text() : ""));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const Port& port = executable->inputs()[i];
    if (values[i]) continue;
    return fail("input-missing",
                "input '" + port.name + "' (" + port.type.text() + ") has no value", options.file,
                "give --input " + port.name + "=FILE");
  }
  const std::vector<InputRef> inputs(values.begin(), values.end());
  Workspace workspace = executable->make_workspace(compile_options.pool);
  CAPRA_ASSIGN(const std::vector<Array> results, executable->run(workspace, inputs));
  if (!options.quiet) {
    for (const std::string& line : workspace.remarks()) fmt::print(stderr, "note: {}\n", line);
  }

  std::map<std::string, Array> named;
  std::string text;
  Json document = Json::object();
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string& name = executable->outputs()[i].name;
    named.emplace(name, results[i]);
    text += name + " = " + print_array(results[i]) + "\n";
    document.set(name, print_array(results[i]));
  }
  if (!options.output.empty()) {
    CAPRA_TRY(write_safetensors(options.output, named));
    Json written = Json::object();
    Json names = Json::array();
    for (const auto& [name, array] : named) names.push(name);
    written.set("output", options.output).set("tensors", std::move(names));
    if (options.json) CAPRA_TRY(print_result(written.text(2) + "\n"));
    return kDone;
  }
  CAPRA_TRY(print_result(options.json ? document.text(2) + "\n" : text));
  return kDone;
}

}  // namespace capra::driver
