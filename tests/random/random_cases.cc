// Writes random graphs for outside judges: modules of 25 functions, their operands, and for each
// element of their results the interval that a compiler within the bounds of every op stays in
// (docs/numerics.md). tests/random/random_programs_test.py reads them. For each graph that is left
// out, which is printed with its reason, another is written.
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

// Graphs in the place of those left out have seeds from here on, behind the first seed that was
// asked for, so that ranges that are apart have others.
constexpr int64_t kFurtherSeeds = 1'000'000;

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

// Whether the target says so by design: a gather of slices whose extents are not known.
bool is_stated(const Diagnostic& refusal) {
  return refusal.code == "op-not-legal" &&
         refusal.message.starts_with("target stablehlo has no row for gather(") &&
         refusal.message.ends_with("; its rows for this op take other types or attributes");
}

// With these extents an op has nothing to work on: the place of the greatest of none.
bool is_of_none(const Diagnostic& refusal) {
  return refusal.code == "operand-shape" &&
         refusal.message.starts_with("argmax: the searched axis of ") &&
         refusal.message.ends_with(" is empty");
}

// A module of several graphs, and their data.
class Cases {
 public:
  // The reason where the graph is left out; a refusal that is none of those stated is an error.
  Result<std::optional<std::string>> add(uint64_t seed) {
    const Graph graph = generate_graph(seed);
    const GraphData data = data_of(graph, bindings_of(seed), seed);
    // Every third graph is written with its composites.
    std::vector<std::string> kept;
    for (const OpDef* op : all_ops()) {
      if (op->decompose != nullptr && seed % 3 == 0) kept.emplace_back(op->name);
    }
    Result<stablehlo::Module> module =
        stablehlo::emit(graph, data.parameters, {.keep_fused = kept});
    if (!module.ok()) return left_out(graph, module.error(), is_stated(module.error()));
    if (has_tanh_of_f64(*module)) return std::optional<std::string>("tanh of f64");
    const Result<std::vector<Array>> results = interpret(graph, data.inputs, data.parameters);
    if (!results.ok()) return left_out(graph, results.error(), is_of_none(results.error()));
    const std::string name = graph.name();
    module_.add(std::move(*module), name);
    Json operands = Json::array();
    for (size_t i = 0; i < data.inputs.size(); ++i) {
      const std::string tensor = fmt::format("{}.operand{}", name, i);
      module_.add_tensor(tensor, data.inputs[i]);
      operands.push(tensor);
    }
    Json enclosures = Json::array();
    for (const Enclosure& enclosure : enclose(graph, data, of_a_compiler)) {
      const std::string tensor = fmt::format("{}.result{}", name, enclosures.items().size());
      module_.add_tensor(tensor + ".low", enclosure.low);
      if (is_float(enclosure.dtype)) module_.add_tensor(tensor + ".high", enclosure.high);
      module_.add_tensor(tensor + ".known", enclosure.known);
      enclosures.push(tensor);
    }
    Json row = Json::object();
    row.set("name", name).set("operands", std::move(operands));
    row.set("results", std::move(enclosures)).set("graph", print_graph(graph));
    cases_.push(std::move(row));
    return std::optional<std::string>();
  }

  Status write(const std::string& folder, int64_t number) const {
    return module_.write(fmt::format("{}/module{}", folder, number), cases_);
  }
  int64_t size() const { return static_cast<int64_t>(cases_.items().size()); }

 private:
  static Result<std::optional<std::string>> left_out(const Graph& graph, Diagnostic refusal,
                                                     bool is_expected) {
    if (is_expected) return std::optional<std::string>(std::move(refusal.message));
    refusal.at = fmt::format("{} of {}", refusal.at, graph.name());
    refusal.help = "mend the refusal, or state it as a reason to leave a graph out";
    return fail(std::move(refusal));
  }

  JudgedModule module_;
  Json cases_ = Json::array();
};

// Seeds in their order: `count` from `first` on, then further ones.
class Seeds {
 public:
  Seeds(int64_t first, int64_t count) : first_(first), count_(count) {}

  uint64_t next() {
    const int64_t at = taken_++;
    return static_cast<uint64_t>(at < count_ ? first_ + at : kFurtherSeeds + first_ + at - count_);
  }

 private:
  int64_t first_;
  int64_t count_;
  int64_t taken_ = 0;
};

// Fewer than asked only where far more are left out than the 3 % that are seen.
Result<int64_t> write_cases(const std::string& folder, int64_t first, int64_t count) {
  CAPRA_TRY(begin_judged_folder(folder));
  int64_t left_out = 0;
  int64_t written = 0;
  Seeds seeds(first, count);
  for (int64_t modules = 0; written < count; ++modules) {
    Cases cases;
    while (cases.size() < kInOneModule && written + cases.size() < count) {
      const uint64_t seed = seeds.next();
      CAPRA_ASSIGN(const std::optional<std::string> reason, cases.add(seed));
      if (!reason) continue;
      fmt::print("  random{} is left out: {}\n", seed, *reason);
      if (++left_out > 5 + count / 20) return written;
    }
    CAPRA_TRY(cases.write(folder, modules));
    written += cases.size();
  }
  fmt::print("{} graphs, {} left out\n", written, left_out);
  return written;
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
  const capra::Result<int64_t> written =
      capra::testing::write_cases(argv[1], *number(2), *number(3));
  if (!written.ok()) {
    std::fputs((capra::to_text(written.error()) + "\n").c_str(), stderr);
  } else if (*written < *number(3)) {
    std::fputs("too many graphs are left out\n", stderr);
  }
  return written.ok() && *written == *number(3) ? 0 : 1;
}
