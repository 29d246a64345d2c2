// capra ga2 run: a graph on the simulated chip.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "capra/base/number_text.h"
#include "capra/targets/ga2/program_json.h"
#include "tools/capra/ga2/request.h"
#include "tools/capra/ga2/trace.h"
#include "tools/capra/named_value.h"
#include "tools/capra/output.h"

namespace capra::driver {
namespace {

Result<ga2::Matrix<double>> as_matrix(const Array& array, const std::string& name) {
  const std::vector<int64_t>& sizes = array.sizes();
  if ((array.dtype() != DType::F32 && array.dtype() != DType::F64) || sizes.size() != 2) {
    return fail("option-invalid", "input '" + name + "' is " + array.type().text(), "--input",
                "give f32 or f64 with rows and columns");
  }
  ga2::Matrix<double> matrix(sizes[0], sizes[1]);
  if (array.dtype() == DType::F32) {
    std::ranges::copy(array.as<float>(), matrix.values.begin());
  } else {
    std::ranges::copy(array.as<double>(), matrix.values.begin());
  }
  return matrix;
}

Result<ga2::Matrix<double>> read_input(const std::string& name, const std::string& source) {
  if (source.ends_with(".json")) {
    CAPRA_ASSIGN(const Json rows, read_json_file(source));
    return ga2::read_matrix(rows, source);
  }
  CAPRA_ASSIGN(const Array array, read_value(name, source));
  return as_matrix(array, name);
}

bool has_input(const ga2::Network& network, const std::string& name) {
  return std::ranges::any_of(network.nodes(), [&](const ga2::NetworkNode& node) {
    return node.op == ga2::NodeOp::Input && node.name == name;
  });
}

// The test sample of the document with the inputs that are given over it.
Result<ga2::Sample> sample_of(const ga2::CompileRequest& request, const Ga2RunOptions& options) {
  ga2::Sample sample = request.test.value_or(ga2::Sample{});
  std::set<std::string> given;
  for (const std::string& binding : options.inputs) {
    CAPRA_ASSIGN(const auto named, split_binding(binding));
    if (!has_input(request.network, named.first)) {
      return fail("input-unknown", "the graph has no input '" + named.first + "'", options.file,
                  "its nodes of op input have the names");
    }
    CAPRA_TRY(check_given_once(named.first, given));
    CAPRA_ASSIGN(sample[named.first], read_input(named.first, named.second));
  }
  for (const ga2::NetworkNode& node : request.network.nodes()) {
    if (node.op != ga2::NodeOp::Input || sample.contains(node.name)) continue;
    return fail("input-missing",
                "input '" + node.name + "' " + ga2::extents_text(node.shape) + " has no value",
                options.file, "give --input " + node.name + "=FILE");
  }
  return sample;
}

template <class T>
std::string rows_text(const ga2::Matrix<T>& matrix) {
  std::string text;
  for (int64_t i = 0; i < matrix.rows; ++i) {
    text += "    ";
    for (int64_t j = 0; j < matrix.columns; ++j) {
      text += (j == 0 ? "[" : ", ") + number_text(matrix.at(i, j));
    }
    text += "]\n";
  }
  return text;
}

std::string outputs_text(const ga2::Program& program, const ga2::Run& run) {
  std::string text;
  for (const ga2::ExternalRegion& region : program.external) {
    const ga2::NetworkNode& node = program.network.node(region.node);
    if (node.op != ga2::NodeOp::Output) continue;
    const ga2::Output& output = run.outputs.at(region.name);
    const bool indices = program.network.node(node.operands[0]).op == ga2::NodeOp::Argmax;
    text += fmt::format("{} {}\n  {}\n", region.name, ga2::extents_text(node.shape),
                        indices ? "indices" : "integers");
    text += rows_text(output.integers);
    if (indices) continue;
    text += fmt::format("  values, {} a step\n", number_text(program.scale(region.node)));
    text += rows_text(output.values);
  }
  return text;
}

std::string counters_text(const ga2::Counters& counters) {
  return fmt::format("cycles {}: mm {}, dma {}, vec {}; instructions {}\n", counters.total,
                     counters.matrix, counters.transfer, counters.vector, counters.instructions);
}

}  // namespace

Result<int> run_ga2_run(const Ga2RunOptions& options) {
  CAPRA_ASSIGN(const ga2::CompileRequest request, open_request(options));
  CAPRA_ASSIGN(const ga2::Sample sample, sample_of(request, options));
  CAPRA_ASSIGN(const ga2::Program program, compile_request(request));
  print_notes(program, options);
  CAPRA_ASSIGN(const ga2::Run ran, ga2::run(program, sample));
  std::vector<TraceStep> steps;
  if (options.trace) {
    CAPRA_ASSIGN(steps, traced_run(program, sample));
  }
  if (options.json) {
    Json document = Json::object();
    document.set("outputs", ga2::outputs_json(ran)).set("cycles", ran.counters.total);
    document.set("counters", ga2::counters_json(ran.counters));
    if (options.trace) {
      Json trace = Json::array();
      for (const TraceStep& step : steps) trace.push(trace_json(step));
      document.set("trace", std::move(trace));
    }
    CAPRA_TRY(print_result(document.text(2) + "\n"));
    return kDone;
  }
  std::string text;
  for (const TraceStep& step : steps) text += trace_line(step) + "\n";
  text += outputs_text(program, ran) + counters_text(ran.counters);
  CAPRA_TRY(print_result(text));
  return kDone;
}

}  // namespace capra::driver
