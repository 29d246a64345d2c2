// Running a graph on the oracle: f64 inside, rounded to the declared dtypes where it leaves.
#include "capra/targets/interp/target.h"

#include <cstring>
#include <utility>
#include <vector>

#include "capra/interp/interp.h"

namespace capra::interp {
namespace {

// The oracle holds what it needs; there is nothing to plan.
struct State : public Workspace::State {
  std::shared_ptr<ThreadPool> pool;
};

class InterpExecutable : public Executable {
 public:
  InterpExecutable(const Graph& graph, Parameters parameters)
      : Executable(input_ports(graph), output_ports(graph)),
        graph_(graph),
        parameters_(std::move(parameters)) {}

  Workspace make_workspace(std::shared_ptr<ThreadPool> pool) const override {
    auto state = std::make_unique<State>();
    state->pool = pool != nullptr ? std::move(pool) : std::make_shared<ThreadPool>(1);
    return Workspace(std::move(state));
  }

  DType computed_dtype(size_t index) const override {
    const DType declared = outputs()[index].type.dtype;
    return is_float(declared) ? DType::F64 : declared;
  }

  using Executable::run;
  Status run(Workspace& workspace, std::span<const InputRef> inputs,
             std::span<const OutputRef> outputs) const override {
    CAPRA_TRY(check_inputs(inputs));
    std::vector<Array> arrays;
    for (const InputRef& input : inputs) {
      Array array =
          Array::zeros(input.dtype, std::vector<int64_t>(input.sizes.begin(), input.sizes.end()));
      if (array.byte_size() != 0) {
        std::memcpy(array.mutable_data(), input.data, array.byte_size());
      }
      arrays.push_back(std::move(array));
    }
    CAPRA_TRY(check_output_count(outputs));
    CAPRA_ASSIGN(
        const std::vector<Array> results,
        interpret(graph_, arrays, parameters_, static_cast<State&>(workspace.state()).pool));
    for (size_t index = 0; index < results.size(); ++index) {
      CAPRA_TRY(store(results[index], outputs[index], this->outputs()[index]));
    }
    return {};
  }

 private:
  Graph graph_;
  Parameters parameters_;
};

Context eager(const Parameters* parameters, std::shared_ptr<ThreadPool> pool) {
  return interp_context(parameters, std::move(pool));
}

Result<std::unique_ptr<Executable>> compile(const Target&, const Graph& graph,
                                            const Parameters& parameters, const CompileOptions&) {
  return std::unique_ptr<Executable>(std::make_unique<InterpExecutable>(graph, parameters));
}

Availability availability(const ToolOptions&) {
  return {.detail = "double precision, slow", .needs = {}, .missing = {}};
}

}  // namespace

constinit const Target kTarget{
    .name = "interp",
    .summary = "Computes every op in double precision from its definition: the oracle.",
    .availability = availability,
    .eager = eager,
    .compile = compile};

}  // namespace capra::interp
