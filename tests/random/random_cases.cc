// Writes random graphs for outside judges: modules of 25 functions, their operands, and for each
// element of their results the interval that a compiler within the bounds of every op stays in
// (docs/numerics.md). tests/random/random_programs_test.py reads them.
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>

#include "capra/base/number_text.h"
#include "capra/interp/interp.h"
#include "capra/io/json.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ops/all_ops.h"
#include "capra/targets/stablehlo/emit.h"
#include "tests/judges/judged_module.h"
#include "tests/random/enclosure.h"
#include "tests/random/generate.h"

namespace capra::testing {
namespace {

constexpr int64_t kInOneModule = 25;

// Each op of a compiler, as its conformance is judged.
OpBound of_a_compiler(DType dtype) {
  if (dtype == DType::F64) return {.relative = 1e-12, .absolute = 1e-12};
  if (dtype == DType::F32) return {.relative = 1e-5, .absolute = 1e-5};
  return {.absolute = 1e-6, .units = 2};
}

// llvm-cpu calls a function that is not there.
bool has_tanh_of_f64(const stablehlo::Module& module) {
  for (const stablehlo::Function& function : module.functions) {
    for (const stablehlo::Operation& operation : function.operations) {
      if (operation.name == "stablehlo.tanh" && operation.type.dtype == DType::F64) return true;
    }
  }
  return false;
}

// A module of several graphs, and their data.
class Cases {
 public:
  // False where the graph is left out.
  bool add(uint64_t seed) {
    const Graph graph = generate_graph(seed);
    const GraphData data = data_of(graph, bindings_of(seed), seed);
    // Every third graph is written with its composites.
    std::vector<std::string> kept;
    for (const OpDef* op : all_ops()) {
      if (op->decompose != nullptr && seed % 3 == 0) kept.emplace_back(op->name);
    }
    Result<stablehlo::Module> module =
        stablehlo::emit(graph, data.parameters, {.keep_fused = kept});
    if (!module.ok() || has_tanh_of_f64(*module)) return false;
    // With these extents an op may have nothing to work on: the greatest of none.
    if (!interpret(graph, data.inputs, data.parameters).ok()) return false;
    const std::string name = graph.name();
    module_.add(std::move(*module), name);
    Json operands = Json::array();
    for (size_t i = 0; i < data.inputs.size(); ++i) {
      const std::string tensor = fmt::format("{}.operand{}", name, i);
      module_.add_tensor(tensor, data.inputs[i]);
      operands.push(tensor);
    }
    Json results = Json::array();
    for (const Enclosure& enclosure : enclose(graph, data, of_a_compiler)) {
      const std::string tensor = fmt::format("{}.result{}", name, results.items().size());
      module_.add_tensor(tensor + ".low", enclosure.low);
      if (is_float(enclosure.dtype)) module_.add_tensor(tensor + ".high", enclosure.high);
      module_.add_tensor(tensor + ".known", enclosure.known);
      results.push(tensor);
    }
    Json row = Json::object();
    row.set("name", name).set("operands", std::move(operands)).set("results", std::move(results));
    row.set("graph", print_graph(graph));
    cases_.push(std::move(row));
    return true;
  }

  Status write(const std::string& folder, int64_t number) const {
    return module_.write(fmt::format("{}/module{}", folder, number), cases_);
  }
  size_t size() const { return cases_.items().size(); }

 private:
  JudgedModule module_;
  Json cases_ = Json::array();
};

int run(const std::string& folder, int64_t first, int64_t count) {
  begin_judged_folder(folder).or_throw();
  int64_t left_out = 0;
  int64_t modules = 0;
  for (int64_t seed = first; seed < first + count;) {
    Cases cases;
    for (int64_t i = 0; i < kInOneModule && seed < first + count; ++i, ++seed) {
      if (!cases.add(static_cast<uint64_t>(seed))) ++left_out;
    }
    if (cases.size() > 0) cases.write(folder, modules++).or_throw();
  }
  fmt::print("{} graphs, {} left out\n", count, left_out);
  return 0;
}

}  // namespace
}  // namespace capra::testing

int main(int argc, char** argv) {
  const auto number = [&](int at) {
    return at < argc ? capra::parse_i64(argv[at]) : std::optional<int64_t>();
  };
  if (argc != 4 || !number(2) || !number(3)) {
    std::fputs("usage: random_cases FOLDER FIRST_SEED GRAPHS\n", stderr);
    return 2;
  }
  try {
    return capra::testing::run(argv[1], *number(2), *number(3));
  } catch (const capra::Error& error) {
    std::fputs((capra::to_text(error.diagnostic()) + "\n").c_str(), stderr);
    return 1;
  }
}
