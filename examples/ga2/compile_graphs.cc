// The chip's compiler end to end: a readable graph, twelve random ones, and a network that fits the
// scratchpad only because buffers are reused. tests/golden/ga2 has every number of these.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "capra/base/number_text.h"
#include "capra/targets/ga2/isa/listing.h"
#include "capra/targets/ga2/program_json.h"
#include "examples/ga2/samples.h"

namespace {

using namespace capra;
using namespace capra::ga2;

void print_graph(const Network& network) {
  for (NodeIndex i = 0; i < network.size(); ++i) {
    const NetworkNode& node = network.node(i);
    std::string operands;
    for (const NodeIndex operand : node.operands) {
      operands += fmt::format("{}%{}", operands.empty() ? "" : ", ", operand);
    }
    std::string extra = node.name + (node.transpose_b ? " ^T" : "");
    if (node.op == NodeOp::Matmul && node.factor != 1)
      extra += fmt::format(" x{:.3g}", node.factor);
    fmt::print("  %{:<2} = {:8} {:10} -> {}  {}\n", i, node_op_name(node.op), operands,
               extents_text(node.shape), extra);
  }
}

// Of every tensor with a scale, to five decimals.
void print_scales(const Program& program) {
  std::string text;
  for (NodeIndex i = 0; i < program.network.size(); ++i) {
    if (program.network.node(i).op == NodeOp::Argmax) continue;
    const double rounded = *parse_f64(fmt::format("{:.5f}", program.scale(i)));
    text += fmt::format("{}'%{}': {}", text.empty() ? "" : ", ", i, number_text(rounded));
  }
  fmt::print("scales chosen by the compiler (real value per int8 step): {{{}}}\n", text);
}

// A layer, another one with a residual connection, and a softmax head.
Result<Network> two_layers(PythonRandom& random) {
  Network g;
  CAPRA_ASSIGN(const NodeIndex x, g.input("x", {5, 12}));
  CAPRA_ASSIGN(const NodeIndex w1, g.weight("w1", normal_matrix(random, {12, 10}, 0.3)));
  CAPRA_ASSIGN(const NodeIndex first, g.matmul(x, w1));
  CAPRA_ASSIGN(const NodeIndex h, g.relu(first));
  CAPRA_ASSIGN(const NodeIndex w2, g.weight("w2", normal_matrix(random, {10, 10}, 0.3)));
  CAPRA_ASSIGN(const NodeIndex second, g.matmul(h, w2));
  CAPRA_ASSIGN(const NodeIndex y, g.add(second, h));
  CAPRA_ASSIGN(const NodeIndex w3, g.weight("w3", normal_matrix(random, {10, 3}, 0.3)));
  CAPRA_ASSIGN(const NodeIndex scores, g.matmul(y, w3, false, 0.5));
  CAPRA_ASSIGN(const NodeIndex p, g.softmax(scores));
  CAPRA_ASSIGN([[maybe_unused]] const NodeIndex probs, g.output(p, "probs"));
  CAPRA_ASSIGN(const NodeIndex best, g.argmax(p));
  CAPRA_ASSIGN([[maybe_unused]] const NodeIndex classes, g.output(best, "class"));
  return g;
}

Status one_graph() {
  fmt::print(
      "== 1. one graph, compiled: a two-layer network with a softmax head and a residual "
      "connection\n");
  PythonRandom random(11);
  CAPRA_ASSIGN(const Network g, two_layers(random));
  fmt::print("the graph:\n");
  print_graph(g);
  const std::vector<Sample> calibration = normal_samples(g, random, 30);
  const Sample test = normal_sample(g, random);
  CAPRA_ASSIGN(const Program program, compile(g, calibration));
  fmt::print(
      "\ncompiled: {} instructions, scratchpad high-water mark {} of {} words, external memory {} "
      "words; notes: {}\n",
      program.instructions.size(), program.scratchpad_high, kScratchpadWords,
      program.external_words, program.plan.notes.empty() ? "none" : program.plan.notes[0]);
  print_scales(program);
  fmt::print("the program:\n");
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    fmt::print("  {:3}  {}\n", i, instruction_text(program.instructions[i]));
  }
  CAPRA_ASSIGN(const Run ran, run(program, test));
  fmt::print(
      "\nclass (circuit-model): {}  class (floating point): {}   probabilities: relative error "
      "{:.2f}%\n",
      column_text(ran.outputs.at("class").integers), column_text(real_output(g, test, "class")),
      100 * relative_error(program, ran, test));
  return {};
}

Status random_graphs() {
  fmt::print(
      "\n== 2. twelve random graphs (seeds 100-111, not in the test battery) on the RTL\n"
      "\n{:>5} {:>6} {:>6} {:>25} {:>11} {:>8} {:>15}\n",
      "seed", "nodes", "instr", "scratchpad words (reuse)", "(no reuse)", "cycles",
      "error vs float");
  for (int64_t seed = 100; seed < 112; ++seed) {
    const Case one = random_case(CaseKind::Fresh, seed);
    CAPRA_ASSIGN(const Program program, compile(one.network, one.calibration));
    CAPRA_ASSIGN(const Program kept, compile(one.network, one.calibration, {.reuse = false}));
    CAPRA_ASSIGN(const Run ran, run(program, one.test));
    fmt::print("{:5} {:6} {:6} {:25} {:11} {:8} {:14.2f}%\n", seed, one.network.size(),
               program.instructions.size(), program.scratchpad_high, kept.scratchpad_high,
               ran.counters.total, 100 * relative_error(program, ran, one.test));
  }
  return {};
}

Status six_layers() {
  fmt::print(
      "\n== 3. a network that fits only because buffers are reused: 6 layers of (8 x 32) times "
      "(32 x 32)\n");
  PythonRandom random(5);
  Network g;
  CAPRA_ASSIGN(NodeIndex current, g.input("x", {8, 32}));
  for (int layer = 0; layer < 6; ++layer) {
    CAPRA_ASSIGN(
        const NodeIndex weight,
        g.weight(fmt::format("w{}", layer), normal_matrix(random, {32, 32}, 1 / std::sqrt(32.0))));
    CAPRA_ASSIGN(const NodeIndex product, g.matmul(current, weight));
    CAPRA_ASSIGN(current, g.relu(product));
  }
  CAPRA_ASSIGN([[maybe_unused]] const NodeIndex y, g.output(current, "y"));
  const std::vector<Sample> calibration = normal_samples(g, random, 10);
  CAPRA_ASSIGN(const Program program, compile(g, calibration));
  fmt::print("with reuse: {} instructions, scratchpad high-water mark {} words\n",
             program.instructions.size(), program.scratchpad_high);
  const Result<Program> kept = compile(g, calibration, {.reuse = false});
  fmt::print("without reuse: {}\n", kept.ok() ? "compiled" : kept.error().message);
  return {};
}

}  // namespace

int main() {
  for (Status (*section)() : {one_graph, random_graphs, six_layers}) {
    const Status status = section();
    if (status.ok()) continue;
    std::fprintf(stderr, "%s\n", to_text(status.error()).c_str());
    return 2;
  }
  return 0;
}
