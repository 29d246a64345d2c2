// The fast schedule where the memories are short: graphs that the author's does not fit, and
// weights that stay packed.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "capra/targets/ga2/network_json.h"
#include "capra/targets/ga2/sim/run.h"
#include "tests/support/sequence.h"
#include "tests/targets/ga2/golden_files.h"

namespace capra::ga2 {
namespace {

Matrix<double> random_matrix(capra::testing::Random& random, Extents shape) {
  Matrix<double> matrix(shape.rows, shape.columns);
  for (double& value : matrix.values) value = random.number();
  return matrix;
}

// The simulator against the interpreter, which knows no instructions.
void expect_interpreted_outputs(const Program& program, const Sample& sample) {
  const Result<Run> ran = run(program, sample);
  ASSERT_TRUE(ran.ok()) << to_text(ran.error());
  EXPECT_LE(program.scratchpad_high, kScratchpadWords);
  const std::vector<Matrix<int32_t>> integers = interpret(program, sample);
  for (const auto& [name, output] : ran->outputs) {
    const auto region = std::ranges::find(program.external, name, &ExternalRegion::name);
    EXPECT_EQ(output.integers, integers[static_cast<size_t>(region->node)]) << name;
  }
}

int64_t loads(const Program& program) {
  return std::ranges::count_if(program.instructions, [](const Instruction& one) {
    return std::holds_alternative<Load>(one);
  });
}

TEST(TightMemory, AWidthOf64Fits) {
  const Result<CompileRequest> request = read_request(golden_file("refuse_b_w64"), "refuse_b_w64");
  ASSERT_TRUE(request.ok());
  const Result<Program> author = compile(request->network, request->calibration);
  ASSERT_FALSE(author.ok());
  const Result<Program> fast =
      compile(request->network, request->calibration, {.schedule = Schedule::Fast});
  ASSERT_TRUE(fast.ok()) << to_text(fast.error());
  expect_interpreted_outputs(*fast, request->calibration[0]);
  // All that it needs, 4096 + 1024 + 192 + 64 words, in two loads.
  EXPECT_EQ(loads(*fast), 2);
}

// A graph of wide products with sums, concatenations, slices and softmaxes between them.
struct WideGraph {
  Network network;
  std::vector<Sample> samples;
};

WideGraph wide_graph(uint64_t seed, int bits) {
  capra::testing::Random random(seed);
  WideGraph graph;
  Network& network = graph.network;
  Sample sample;
  const auto input = [&](Extents shape) {
    const std::string name = "in" + std::to_string(network.size());
    sample[name] = random_matrix(random, shape);
    return *network.input(name, shape);
  };
  constexpr int64_t kWidths[] = {5, 16, 30, 48, 64};
  NodeIndex last = input({1 + random.below(24), kWidths[random.below(5)]});
  const int64_t layers = 3 + random.below(4);
  for (int64_t layer = 0; layer < layers; ++layer) {
    const Extents shape = network.node(last).shape;
    const int64_t width = kWidths[random.below(5)];
    const bool turned = random.chance(2);
    const Extents weight = turned ? Extents{width, shape.columns} : Extents{shape.columns, width};
    const NodeIndex w =
        *network.weight("w" + std::to_string(layer), random_matrix(random, weight), bits);
    NodeIndex made = *network.matmul(last, w, turned, 0.1);
    switch (random.below(6)) {
      case 0:
        made = *network.relu(made);
        break;
      case 1:
        made = *network.softmax(made);
        break;
      case 2:
        made = *network.add(made, input(network.node(made).shape));
        break;
      case 3:
        made = *network.concat_rows(made, input({1 + random.below(3), width}));
        break;
      case 4:
        made = *network.concat_rows(input({1 + random.below(3), width}), made);
        break;
      default:
        made = *network.slice_rows(made, random.below(2) % shape.rows, 1);
        break;
    }
    if (random.chance(3)) (void)*network.output(made, "out" + std::to_string(layer));
    last = made;
  }
  (void)*network.output(last, "last");
  graph.samples.push_back(std::move(sample));
  return graph;
}

TEST(TightMemory, WideGraphsGiveTheInterpretersOutputs) {
  int64_t beyond_the_author = 0;
  int64_t several_loads = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    const WideGraph graph = wide_graph(seed, seed % 4 == 0 ? 4 : 8);
    CompileOptions options;
    options.external_words = 32768;
    const Result<Program> author = compile(graph.network, graph.samples, options);
    options.schedule = Schedule::Fast;
    const Result<Program> fast = compile(graph.network, graph.samples, options);
    ASSERT_TRUE(fast.ok()) << to_text(fast.error());
    EXPECT_EQ(fast->schedule, Schedule::Fast);
    expect_interpreted_outputs(*fast, graph.samples[0]);
    if (!author.ok()) ++beyond_the_author;
    if (loads(*fast) > 1) ++several_loads;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(beyond_the_author, 10);
  EXPECT_GE(several_loads, 20);
}

// Unpacked, these weights would take eight times the external memory that they have.
TEST(TightMemory, WeightsStayPackedWhereExternalMemoryIsShort) {
  int64_t packed = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const WideGraph graph = wide_graph(seed, 4);
    const Result<Program> author = compile(graph.network, graph.samples);
    if (!author.ok()) continue;
    CompileOptions options;
    options.external_words = author->external_words;
    options.schedule = Schedule::Fast;
    const Result<Program> fast = compile(graph.network, graph.samples, options);
    ASSERT_TRUE(fast.ok()) << to_text(fast.error());
    EXPECT_LE(fast->external_words, options.external_words);
    EXPECT_LT(cost(fast->instructions).total, cost(author->instructions).total);
    expect_interpreted_outputs(*fast, graph.samples[0]);
    const bool unpacks = std::ranges::any_of(fast->instructions, [](const Instruction& one) {
      return std::holds_alternative<Unpack>(one);
    });
    if (unpacks) ++packed;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(packed, 15);
}

}  // namespace
}  // namespace capra::ga2
