// Exact passes keep every bit on random graphs, NaN, infinities and signed zeros among the data;
// and lists of passes come to rest.
#include "tests/passes/random_graph.h"

#include <gtest/gtest.h>

#include "capra/ir/text.h"
#include "capra/ir/verify.h"
#include "capra/passes/fusion_labels.h"
#include "capra/passes/pipeline.h"
#include "tests/passes/graph_run.h"

namespace capra {
namespace {

using testing::cpu_context;
using testing::GraphData;
using testing::random_graph;

constexpr uint64_t kGraphs = 300;

Graph optimized(const Graph& graph, PassList passes, const GraphData& data) {
  PassContext context = cpu_context(&data.parameters);
  return run_passes(graph, passes, context, {.verify_each = true}).value_or_throw();
}

GraphData data_of(const Graph& graph, bool specials, uint64_t seed) {
  const int64_t tokens = 1 + static_cast<int64_t>(seed % 9);
  return testing::make_data(graph, tokens, testing::kRandomGraphRows, specials, seed);
}

TEST(RandomGraphs, EachExactPassKeepsEveryBit) {
  int changed = 0;
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    const Graph graph = random_graph(seed);
    ASSERT_TRUE(verify(graph).ok()) << print_graph(graph);
    const GraphData data = data_of(graph, seed % 3 != 0, seed);
    const std::vector<Array> wanted = testing::run_eager(graph, data);
    for (const Pass* pass : all_passes()) {
      if (pass->effect != NumericEffect::Exact) continue;
      const Graph after = optimized(graph, {&pass, 1}, data);
      if (after == graph) continue;
      ++changed;
      ASSERT_EQ(testing::difference(wanted, testing::run_eager(after, data)), "")
          << pass->name << " on seed " << seed << "\n"
          << print_graph(graph) << print_graph(after);
    }
  }
  // Otherwise the graphs hold nothing that passes look for.
  EXPECT_GT(changed, static_cast<int>(kGraphs) * 4);
}

TEST(RandomGraphs, TheCpuPipelineKeepsEveryBitWhenGroupsRunAsOne) {
  std::map<std::string_view, int> groups;
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    const Graph graph = random_graph(seed);
    const GraphData data = data_of(graph, seed % 3 != 0, seed + 1);
    const std::vector<Array> wanted = testing::run_eager(graph, data);
    const Graph core = optimized(graph, core_passes(), data);
    ASSERT_EQ(testing::difference(wanted, testing::run_eager(core, data)), "") << "seed " << seed;
    const Graph fused = optimized(core, cpu_passes(), data);
    ASSERT_EQ(testing::difference(wanted, testing::run_eager(fused, data)), "") << "seed " << seed;
    ASSERT_EQ(testing::difference(wanted, testing::run_compiled(fused, data)), "")
        << "seed " << seed << "\n"
        << print_graph(graph) << print_graph(fused);
    for (const std::string_view label :
         {kFusedQkv, kFusedAttentionQkv, kFusedLinearActivation, kFusedLinearAdd,
          kFusedLinearAddLayerNorm, kFusedAddLayerNorm, kFusedEmbeddingLayerNorm}) {
      groups[label] += testing::count_groups(fused, label);
    }
  }
  for (const auto& [label, count] : groups) EXPECT_GT(count, 5) << label;
}

TEST(RandomGraphs, ListsOfPassesComeToRest) {
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    const Graph graph = random_graph(seed);
    const GraphData data = data_of(graph, false, seed);
    for (const PassList list : {core_passes(), cpu_passes(), raising_passes()}) {
      const Graph once = optimized(graph, list, data);
      PassContext context = cpu_context(&data.parameters);
      const Graph again = run_passes(once, list, context, {.max_rounds = 1}).value_or_throw();
      EXPECT_TRUE(again == once) << "seed " << seed;
      EXPECT_TRUE(context.report.rewrites.empty()) << context.report.rewrites.front().rule;
    }
  }
}

TEST(RandomGraphs, EveryReportedRewriteChangesTheGraph) {
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    const Graph graph = random_graph(seed);
    const GraphData data = data_of(graph, false, seed);
    for (const Pass* pass : all_passes()) {
      PassContext context = cpu_context(&data.parameters);
      const Graph after = pass->run(graph, context).value_or_throw();
      EXPECT_EQ(after == graph, context.report.rewrites.empty()) << pass->name << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace capra
