// The record of the chip's target, and a compiled graph that runs on the simulator.
#include "capra/targets/ga2/target.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "capra/targets/ga2/lower/compiled.h"
#include "capra/targets/ga2/lower/ops.h"
#include "capra/targets/ga2/sim/run.h"
#include "capra/targets/ga2/write.h"

namespace capra::ga2 {
namespace {

struct State : public Workspace::State {
  std::vector<std::string> said;
  std::vector<std::string> remarks() const override { return said; }
};

Array array_of(const InputRef& input) {
  Array array =
      Array::zeros(input.dtype, std::vector<int64_t>(input.sizes.begin(), input.sizes.end()));
  if (array.byte_size() != 0) std::memcpy(array.mutable_data(), input.data, array.byte_size());
  return array;
}

Matrix<double> matrix_of(const Array& array) {
  Matrix<double> matrix(array.sizes()[0], array.sizes()[1]);
  for (int64_t i = 0; i < array.elements(); ++i) {
    matrix.values[static_cast<size_t>(i)] = array.f64_at(i);
  }
  return matrix;
}

// An argmax without kept dims has one axis.
Array array_of(const Output& output, const TensorType& type) {
  Array array = Array::zeros(is_float(type.dtype) ? DType::F64 : type.dtype, type.shape.sizes());
  for (int64_t i = 0; i < array.elements(); ++i) {
    array.set(i, output.values.values[static_cast<size_t>(i)]);
  }
  return array;
}

class ChipExecutable : public Executable {
 public:
  ChipExecutable(const Graph& graph, Program program)
      : Executable(input_ports(graph), output_ports(graph)),
        name_(graph.name()),
        program_(std::move(program)) {}

  // One run is one thread's.
  Workspace make_workspace(std::shared_ptr<ThreadPool>) const override {
    return Workspace(std::make_unique<State>());
  }

  DType computed_dtype(size_t index) const override {
    const DType declared = outputs()[index].type.dtype;
    return is_float(declared) ? DType::F64 : declared;
  }

  using Executable::run;
  Status run(Workspace& workspace, std::span<const InputRef> inputs,
             std::span<const OutputRef> outputs) const override {
    CAPRA_TRY(check_inputs(inputs));
    CAPRA_TRY(check_output_count(outputs));
    Sample sample;
    for (size_t i = 0; i < inputs.size(); ++i) {
      sample[this->inputs()[i].name] = matrix_of(array_of(inputs[i]));
    }
    CAPRA_ASSIGN(const Run ran, ga2::run(program_, sample));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Port& port = this->outputs()[i];
      CAPRA_TRY(store(array_of(ran.outputs.at(port.name), port.type), outputs[i], port));
    }
    static_cast<State&>(workspace.state()).said = remarks(ran, sample);
    return {};
  }

 private:
  std::vector<std::string> remarks(const Run& ran, const Sample& sample) const {
    std::vector<std::string> lines = {fmt::format(
        "INT8_RUN graph={}: relError={:.4g} against the graph in real numbers, {} cycles", name_,
        relative_error(program_, ran, sample), ran.counters.total)};
    for (NodeIndex i = 0; i < program_.network.size(); ++i) {
      const NetworkNode& node = program_.network.node(i);
      if (node.op != NodeOp::Input) continue;
      const double most = kMostLevel * program_.scale(i);
      const int64_t beyond = count_beyond(sample.at(node.name), most);
      if (beyond == 0) continue;
      lines.push_back(
          fmt::format("INT8_SATURATES graph={}: {} of {} values of input {} lie beyond "
                      "{:.4g}, the most that its levels hold",
                      name_, beyond, node.shape.words(), node.name, most));
    }
    return lines;
  }

  static int64_t count_beyond(const Matrix<double>& values, double most) {
    int64_t count = 0;
    // The greatest level is that of its neighbourhood too.
    for (const double value : values.values) count += std::fabs(value) > most * kTolerated ? 1 : 0;
    return count;
  }

  static constexpr double kTolerated = 1 + 0.5 / kMostLevel;

  std::string name_;
  Program program_;
};

Result<std::unique_ptr<Executable>> compile(const Target& target, const Graph& graph,
                                            const Parameters& parameters,
                                            const capra::CompileOptions& options) {
  CAPRA_TRY(check_options(target, options.program));
  WriteOptions program = options.program;
  program.verify_each = options.verify_each;
  CAPRA_ASSIGN(CompiledGraph compiled,
               compile_graph(target, graph, parameters, program, options.optimize));
  if (options.report != nullptr) *options.report = std::move(compiled.report);
  return std::unique_ptr<Executable>(
      std::make_unique<ChipExecutable>(graph, std::move(compiled.program)));
}

// A program follows the author's order of nodes, and what nothing uses is part of it.
PassList no_passes() { return {}; }

PassList dag_passes() {
  static const Pass* const kPasses[] = {&kCheckCalls};
  return kPasses;
}

Availability availability(const ToolOptions&) {
  return {.detail = fmt::format("a simulator; {} words of scratchpad, {} of external memory",
                                kScratchpadWords, kExternalWords),
          .needs = {},
          .missing = {}};
}

}  // namespace

constinit const Target kTarget{
    .name = "ga2",
    .summary = "Writes programs for GA-2, a small int8 chip, and runs them on its simulator.",
    .table = &kOpTable,
    .optimizer = {.core_passes = no_passes, .dag_passes = dag_passes},
    .availability = availability,
    .compile = compile,
    .write = write};

}  // namespace capra::ga2
