// Properties that hold for every graph, on random ones: passes keep results, lists of passes come
// to rest, cpu runs eager and optimized with the same bits, written programs read back as what they
// were written from. A graph that fails is made small and printed.
//
// CAPRA_RANDOM_GRAPHS says how many graphs, CAPRA_RANDOM_FIRST the first seed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>

#include "capra/interp/interp.h"
#include "capra/ir/structural_ops.h"
#include "capra/ir/text.h"
#include "capra/ir/verify.h"
#include "capra/ops/all_ops.h"
#include "capra/ops/convert.h"
#include "capra/ops/sub.h"
#include "capra/passes/graph_rewriter.h"
#include "capra/passes/pipeline.h"
#include "capra/runtime/target.h"
#include "capra/targets/all_targets.h"
#include "capra/targets/stablehlo/emit.h"
#include "capra/targets/stablehlo/read/import.h"
#include "capra/targets/stablehlo/read/read.h"
#include "tests/passes/graph_run.h"
#include "tests/random/enclosure.h"
#include "tests/random/generate.h"
#include "tests/random/shrink.h"

namespace capra::testing {
namespace {

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// What is known of one run of a property over many graphs.
struct Tally {
  int64_t compared = 0;  ///< elements that were bound
  int64_t all = 0;
  int64_t changed = 0;  ///< graphs that passes changed
  int64_t refused = 0;  ///< graphs that a target does not take
};

/// Words `kind: what is wrong`, or nothing.
using Property = std::function<std::string(const Graph&, const GraphData&, Tally&)>;

// A failure's kind, so that a graph does not become another failure while it shrinks.
std::string kind_of(const std::string& words) { return words.substr(0, words.find(':')); }

std::string words_of(const Property& property, const Graph& graph, uint64_t seed, Tally& tally) {
  try {
    const GraphData data = data_of(graph, bindings_of(seed), seed);
    // With these extents an op may have nothing to work on: the greatest of none.
    if (!interpret(graph, data.inputs, data.parameters).ok()) {
      ++tally.refused;
      return {};
    }
    return property(graph, data, tally);
  } catch (const Error& error) {
    return "error " + error.diagnostic().code + ": " + to_text(error.diagnostic());
  }
}

/// The smallest graph found that fails in the same way as the one of this seed.
Graph shrunk(const Property& property, uint64_t seed, const std::string& words) {
  return shrink(generate_graph(seed), [&](const Graph& smaller) {
    Tally ignored;
    return verify(smaller).ok() &&
           kind_of(words_of(property, smaller, seed, ignored)) == kind_of(words);
  });
}

Tally hold(const Property& property) {
  Tally tally;
  const uint64_t first = setting("CAPRA_RANDOM_FIRST", 0);
  const uint64_t count = setting("CAPRA_RANDOM_GRAPHS", 6);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string words = words_of(property, generate_graph(seed), seed, tally);
    if (words.empty()) continue;
    const Graph small = shrunk(property, seed, words);
    Tally ignored;
    ADD_FAILURE() << fmt::format(
        "seed {}: {}\n\nmade small: {}\n{}\nrepeat: CAPRA_RANDOM_FIRST={} CAPRA_RANDOM_GRAPHS=1 "
        "build/release/tests/random_test",
        seed, words, words_of(property, small, seed, ignored), print_graph(small), seed);
    return tally;
  }
  return tally;
}

// What rounding to the dtype, of constants and between steps, may do.
OpBound of_rounding(DType dtype) {
  if (dtype == DType::F64) return {.relative = 1e-13, .absolute = 1e-300};
  if (dtype == DType::F32) return {.relative = 4e-7, .absolute = 1e-37};
  return {.relative = 4e-7, .absolute = 1e-37, .units = 2};
}

// Words about the first element outside, or nothing.
std::string outside(std::span<const Enclosure> enclosures, std::span<const Array> found,
                    Tally& tally) {
  if (found.size() != enclosures.size()) return fmt::format("{} outputs", found.size());
  for (size_t output = 0; output < found.size(); ++output) {
    const Enclosure& enclosure = enclosures[output];
    if (found[output].sizes() != enclosure.low.sizes()) {
      return fmt::format("output {} is {}, needed {}", output, found[output].type().text(),
                         enclosure.low.type().text());
    }
    tally.all += found[output].elements();
    for (int64_t i = 0; i < found[output].elements(); ++i) {
      if (enclosure.known.i64_at(i) == 0) continue;
      ++tally.compared;
      const double value = found[output].f64_at(i);
      const bool is_inside =
          is_float(enclosure.dtype)
              ? enclosure.low.f64_at(i) <= value && value <= enclosure.high.f64_at(i)
              : found[output].i64_at(i) == enclosure.low.i64_at(i);
      if (is_inside) continue;
      return fmt::format("output {}, element {}: {:.17g} is outside [{:.17g}, {:.17g}]", output, i,
                         value, enclosure.low.f64_at(i),
                         (is_float(enclosure.dtype) ? enclosure.high : enclosure.low).f64_at(i));
    }
  }
  return {};
}

std::string compare_with_oracle(const Graph& graph, const Graph& after, const GraphData& data,
                                OpBounds bounds, Tally& tally) {
  const std::vector<Array> found = interpret(after, data.inputs, data.parameters).value_or_throw();
  return outside(enclose(graph, data, bounds), found, tally);
}

// The oracle holds floats as doubles, and rounds them only where the graph converts.
bool may_round(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) {
    return is_half(node.type.dtype) || node.op == &kConvert;
  });
}

// Exact passes keep every bit of the oracle; but a conversion that is none on cpu rounds here.
std::string compare_after(const Pass& pass, const Graph& graph, const Graph& after,
                          const GraphData& data, Tally& tally) {
  if (pass.effect != NumericEffect::Exact || may_round(graph)) {
    return compare_with_oracle(graph, after, data, of_rounding, tally);
  }
  const auto oracle = [&](const Graph& one) {
    return interpret(one, data.inputs, data.parameters).value_or_throw();
  };
  return difference(oracle(graph), oracle(after));
}

std::string each_pass_keeps_the_oracle(const Graph& graph, const GraphData& data, Tally& tally) {
  for (const Pass* pass : all_passes()) {
    if (pass->effect == NumericEffect::Approximate) continue;  // another function
    PassContext context = cpu_context(&data.parameters);
    context.evaluate = nullptr;  // what is folded on cpu is rounded there
    const Graph after =
        run_passes(graph, {&pass, 1}, context, {.verify_each = true}).value_or_throw();
    if (after == graph) continue;
    ++tally.changed;
    const std::string words = compare_after(*pass, graph, after, data, tally);
    if (!words.empty()) return fmt::format("{}: {}\n{}", pass->name, words, print_graph(after));
  }
  return {};
}

std::string each_list_comes_to_rest(const Graph& graph, const GraphData& data, Tally& tally) {
  std::map<std::string, std::pair<const Target*, std::vector<const Pass*>>> lists;
  const auto after = [](PassList core, PassList own) {
    std::vector<const Pass*> passes(core.begin(), core.end());
    passes.insert(passes.end(), own.begin(), own.end());
    return passes;
  };
  const Target* cpu = find_target(all_targets(), "cpu").value_or_throw();
  lists["raising"] = {cpu, after(core_passes(), raising_passes())};
  for (const Target* target : all_targets()) {
    if (target->table == nullptr || target->optimizer.dag_passes == nullptr) continue;
    lists[std::string(target->name)] = {
        target, after(core_passes_of(*target), target->optimizer.dag_passes())};
  }
  for (const auto& [name, list] : lists) {
    const auto& [target, passes] = list;
    PassContext context{
        .table = target->table, .target = target->name, .parameters = &data.parameters};
    const Result<Graph> once = run_passes(graph, passes, context, {.verify_each = true});
    if (!once.ok() && once.error().code == "op-not-legal") {
      ++tally.refused;
      continue;
    }
    if (!once.ok()) return name + ": " + to_text(once.error());
    PassContext fresh{
        .table = target->table, .target = target->name, .parameters = &data.parameters};
    const Graph again = run_passes(*once, passes, fresh, {.max_rounds = 1}).value_or_throw();
    if (again != *once) return name + " does not rest: " + print_graph(*once);
    const std::string words = compare_with_oracle(graph, *once, data, of_rounding, tally);
    if (!words.empty()) return fmt::format("{}: {}\n{}", name, words, print_graph(*once));
  }
  return {};
}

std::string cpu_keeps_every_bit(const Graph& graph, const GraphData& data, Tally& tally) {
  const std::vector<Array> wanted = run_eager(graph, data);
  for (const Pass* pass : all_passes()) {
    if (pass->effect != NumericEffect::Exact) continue;
    PassContext context = cpu_context(&data.parameters);
    const Graph after = run_passes(graph, {&pass, 1}, context, {}).value_or_throw();
    if (after == graph) continue;
    ++tally.changed;
    const std::string words = difference(wanted, run_eager(after, data));
    if (!words.empty()) return fmt::format("{}: {}\n{}", pass->name, words, print_graph(after));
  }
  PassContext context = cpu_context(&data.parameters);
  const Graph core = run_passes(graph, core_passes(), context, {}).value_or_throw();
  const Graph fused = run_passes(core, cpu_passes(), context, {}).value_or_throw();
  const std::string words = difference(wanted, run_compiled(fused, data));
  return words.empty() ? "" : "compiled: " + words + "\n" + print_graph(fused);
}

std::string programs_read_back(const Graph& graph, const GraphData& data, Tally& tally) {
  using namespace stablehlo;
  std::vector<std::string> kept;
  for (const OpDef* op : all_ops()) {
    if (op->decompose != nullptr) kept.emplace_back(op->name);
  }
  for (const bool composites : {false, true}) {
    const std::vector<std::string> fused = composites ? kept : std::vector<std::string>();
    const Result<Module> written = emit(graph, data.parameters, {.keep_fused = fused});
    if (!written.ok()) {
      // A slice of dynamic width, or a symbol that no input has.
      const std::string& code = written.error().code;
      if (code != "op-not-legal" && code != "symbol-unbound") return to_text(written.error());
      ++tally.refused;
      return {};
    }
    const std::string text = print_module(*written);
    const Module module = read_module(text).value_or_throw();
    if (print_module(module) != text) return "text: another one is printed\n" + text;
    for (const bool whole : {false, true}) {
      if (whole && !composites) continue;
      ImportOptions options{.whole_composites = whole};
      for (const Array& input : data.inputs) options.inputs.push_back(input.type());
      const Graph back = import_module(module, options).value_or_throw();
      const std::string words = compare_with_oracle(graph, back, data, of_rounding, tally);
      if (!words.empty()) return fmt::format("program: {}\n{}", words, text);
    }
  }
  return {};
}

// Most elements are bound, or the property says little.
void expect_most_compared(const Tally& tally) {
  EXPECT_GT(tally.compared, tally.all * 6 / 10) << tally.compared << " of " << tally.all;
}

TEST(RandomGraphs, EachPassKeepsTheOraclesResult) {
  const Tally tally = hold(each_pass_keeps_the_oracle);
  EXPECT_GT(tally.changed, 0);
  expect_most_compared(tally);
}

TEST(RandomGraphs, EachListOfPassesComesToRestAndKeepsTheOraclesResult) {
  expect_most_compared(hold(each_list_comes_to_rest));
}

TEST(RandomGraphs, CpuKeepsEveryBit) { EXPECT_GT(hold(cpu_keeps_every_bit).changed, 0); }

TEST(RandomGraphs, ProgramsReadBackAsWhatTheyWereWrittenFrom) {
  expect_most_compared(hold(programs_read_back));
}

TEST(RandomGraphs, EveryOpTakesPart) {
  std::map<const OpDef*, int> calls;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = generate_graph(seed);
    ASSERT_TRUE(verify(graph).ok()) << print_graph(graph);
    EXPECT_EQ(print_graph(graph), print_graph(generate_graph(seed)));
    for (const Node& node : graph.nodes()) ++calls[node.op];
  }
  for (const OpDef* op : all_ops()) EXPECT_GT(calls[op], 3) << op->name;
}

// A rule that is wrong: a - b becomes b - a where both have one type.
Result<Graph> exchange(const Graph& graph, PassContext&) {
  Graph after = graph;
  for (NodeId id = 0; id < after.size(); ++id) {
    Node& node = after.node(id);
    if (node.op != &kSub) continue;
    std::swap(node.operands[0], node.operands[1]);
  }
  return after;
}

TEST(RandomGraphs, AWrongRuleIsFoundAndMadeSmall) {
  const Property property = [](const Graph& graph, const GraphData& data, Tally& tally) {
    PassContext context;
    const Graph after = exchange(graph, context).value_or_throw();
    const std::string words = compare_with_oracle(graph, after, data, of_rounding, tally);
    return words.empty() ? "" : "exchange: " + words;
  };
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Tally tally;
    const std::string words = words_of(property, generate_graph(seed), seed, tally);
    if (words.empty()) continue;
    const Graph small = shrunk(property, seed, words);
    EXPECT_LE(small.size(), 4) << print_graph(small);
    EXPECT_EQ(count_ops(small, kSub), 1) << print_graph(small);
    return;
  }
  FAIL() << "200 graphs do not show that the rule is wrong";
}

}  // namespace
}  // namespace capra::testing
